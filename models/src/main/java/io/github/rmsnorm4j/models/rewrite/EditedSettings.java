package io.github.rmsnorm4j.models.rewrite;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.github.rmsnorm4j.formats.FormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The text of {@code config.json} or of the index of the shards, in which single values change. All
 * other characters stay: the order of the fields, the indentation, and how numbers are written.
 */
final class EditedSettings {
  /** Python also writes numbers that are not finite. */
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private final Path file;
  private String text;

  EditedSettings(Path file) throws IOException {
    this(file, Files.readString(file));
    if (text.startsWith("\ufeff")) {
      throw new FormatException(file, "has to be changed, but begins with a byte order mark");
    }
  }

  EditedSettings(Path file, String text) {
    this.file = file;
    this.text = text;
  }

  /** JSON of a text. */
  static String quoted(Object value) {
    return '"' + new String(JsonStringEncoder.getInstance().quoteAsString("" + value)) + '"';
  }

  /** JSON of a list of texts. */
  static String quoted(List<?> values) {
    return values.stream().map(EditedSettings::quoted).collect(Collectors.joining(", ", "[", "]"));
  }

  /**
   * Sets a value, which is added as the last of its object if there is none.
   *
   * @param value JSON
   * @param path the field, after the fields of the objects that it is in
   */
  void set(String value, String... path) throws IOException {
    try (JsonParser json = JSON.createParser(text)) {
      json.nextToken();
      int open = offset(json.currentLocation());
      int depth = 0;
      while (depth < path.length && json.nextToken() == JsonToken.FIELD_NAME) {
        boolean found = json.currentName().equals(path[depth]);
        json.nextToken();
        if (found) {
          open = offset(json.currentLocation());
          depth++;
          if (depth < path.length && json.currentToken() != JsonToken.START_OBJECT) {
            break;
          }
        } else {
          json.skipChildren();
        }
      }
      if (depth == path.length) {
        int start = offset(json.currentTokenLocation());
        json.skipChildren();
        json.finishToken();
        text = text.substring(0, start) + value + text.substring(offset(json.currentLocation()));
      } else if (depth == path.length - 1 && json.currentToken() == JsonToken.END_OBJECT) {
        add(quoted(path[depth]), value, open, offset(json.currentTokenLocation()));
      } else {
        throw new FormatException(file, "has no object " + path[depth]);
      }
    }
  }

  private static int offset(JsonLocation location) {
    return (int) location.getCharOffset();
  }

  /** Adds a field to an object, as its others are written. */
  private void add(String name, String value, int open, int close) {
    String fields = text.substring(open, close);
    int indent = fields.length() - fields.stripLeading().length();
    int end = open + fields.stripTrailing().length();
    String before = fields.isBlank() ? "" : "," + fields.substring(0, indent);
    String colon = indent == 0 || fields.isBlank() ? ":" : ": ";
    text = text.substring(0, end) + before + name + colon + value + text.substring(end);
  }

  @Override
  public String toString() {
    return text;
  }
}
