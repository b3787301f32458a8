package io.github.rmsnorm4j.models.rewrite;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The text of a JSON object in which single values change. All other characters stay: the order of
 * the fields, the indentation, and how numbers are written.
 */
final class JsonText {
  private static final JsonFactory JSON = new JsonFactory();

  private String text;

  JsonText(String text) {
    this.text = text;
  }

  /** A text as JSON. */
  static String quoted(String value) {
    return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(value)) + "\"";
  }

  /**
   * Sets a value, which is added as the last of its object if there is none.
   *
   * @param value JSON
   * @param path the field, after the fields of the objects that it is in
   */
  JsonText set(String value, String... path) throws IOException {
    try (JsonParser json = JSON.createParser(text)) {
      json.nextToken();
      for (int i = 0; i < path.length - 1; i++) {
        Place place = find(json, path[i]);
        if (place.value < 0 || json.currentToken() != JsonToken.START_OBJECT) {
          throw new IOException("config has no object " + path[i]);
        }
      }
      Place place = find(json, path[path.length - 1]);
      text =
          place.value >= 0
              ? text.substring(0, place.value) + value + text.substring(end(json))
              : added(place, path[path.length - 1], value);
    }
    return this;
  }

  /**
   * Where a field is.
   *
   * @param open the place behind the brace that opens the object
   * @param first the first field's name; -1 if there is none
   * @param value the value; -1 if there is no such field
   * @param last the place behind the last value, where the field could be added
   */
  private record Place(int open, int first, int value, int last) {}

  /** Goes to the value of a field of the object that the parser is at. */
  private static Place find(JsonParser json, String field) throws IOException {
    int open = (int) json.currentLocation().getCharOffset();
    int first = -1;
    int last = open;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      first = first < 0 ? start(json) : first;
      boolean found = json.currentName().equals(field);
      json.nextToken();
      if (found) {
        return new Place(open, first, start(json), -1);
      }
      last = end(json);
    }
    return new Place(open, first, -1, last);
  }

  private static int start(JsonParser json) {
    return (int) json.currentTokenLocation().getCharOffset();
  }

  /** The place behind the value that the parser is at. */
  private static int end(JsonParser json) throws IOException {
    json.skipChildren();
    json.finishToken();
    return (int) json.currentLocation().getCharOffset();
  }

  private String added(Place place, String field, String value) {
    String before = place.first < 0 ? "" : text.substring(place.open, place.first);
    String pair = quoted(field) + (before.isEmpty() ? ":" : ": ") + value;
    return text.substring(0, place.last)
        + (place.first < 0 ? "" : "," + before)
        + pair
        + text.substring(place.last);
  }

  /** The texts of a list in a field of the object; empty if there is none. */
  List<String> texts(String field) throws IOException {
    List<String> texts = new ArrayList<>();
    try (JsonParser json = JSON.createParser(text)) {
      json.nextToken();
      if (find(json, field).value >= 0 && json.currentToken() == JsonToken.START_ARRAY) {
        while (json.nextToken() == JsonToken.VALUE_STRING) {
          texts.add(json.getText());
        }
      }
    }
    return texts;
  }

  @Override
  public String toString() {
    return text;
  }
}
