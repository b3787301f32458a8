package io.github.rmsnorm4j.models.rewrite;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.github.rmsnorm4j.formats.FormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The text of {@code config.json} or of the index of the shards, in which single values change. All
 * other characters stay: the order of the fields, the indentation, and how numbers are written.
 */
final class EditedSettings {
  /** Python also writes numbers that are not finite. Of a name that is there twice none is set. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private final Path file;
  private String text;

  EditedSettings(Path file) throws IOException {
    this(file, Files.readString(file));
  }

  EditedSettings(Path file, String text) throws FormatException {
    this.file = file;
    this.text = text;
    if (text.startsWith("\ufeff")) {
      throw new FormatException(file, "has to be changed, but begins with a byte order mark");
    }
  }

  /** JSON of a text. */
  static String quoted(String text) {
    return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  /**
   * Sets a value, which is added as the last of its object if there is none.
   *
   * @param value JSON
   * @param path the field, after the fields of the objects that it is in
   */
  void set(String value, String... path) throws IOException {
    JsonPointer field = JsonPointer.empty();
    for (String name : path) {
      field = field.appendProperty(name);
    }
    String edited = null;
    int open = 0;
    try (JsonParser json = JSON.createParser(text)) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        JsonPointer at = json.getParsingContext().pathAsPointer();
        int start = offset(json.currentTokenLocation());
        if (edited != null || token == JsonToken.FIELD_NAME) {
          continue;
        } else if (at.equals(field)) {
          json.skipChildren();
          json.finishToken();
          edited =
              text.substring(0, start) + value + text.substring(offset(json.currentLocation()));
        } else if (at.equals(field.head()) && token == JsonToken.START_OBJECT) {
          open = offset(json.currentLocation());
        } else if (at.equals(field.head()) && token == JsonToken.END_OBJECT) {
          edited = added(quoted(path[path.length - 1]), value, open, start);
        } else if (token == JsonToken.START_ARRAY) {
          // A pointer does not tell a place in a list from a field whose name is a number.
          json.skipChildren();
        }
      }
    } catch (JsonParseException e) {
      throw new FormatException(file, "has to be changed, but: " + e.getOriginalMessage());
    }
    if (edited == null) {
      throw new FormatException(file, "has no object " + field.head());
    }
    text = edited;
  }

  private static int offset(JsonLocation location) {
    return (int) location.getCharOffset();
  }

  /** The text with a field more in an object, as its others are written. */
  private String added(String name, String value, int open, int close) {
    String fields = text.substring(open, close);
    int indent = fields.length() - fields.stripLeading().length();
    int end = open + fields.stripTrailing().length();
    String before = fields.isBlank() ? "" : "," + fields.substring(0, indent);
    String colon = indent == 0 || fields.isBlank() ? ":" : ": ";
    return text.substring(0, end) + before + name + colon + value + text.substring(end);
  }

  @Override
  public String toString() {
    return text;
  }
}
