package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.CharConversionException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A file that holds one JSON object, as {@code config.json} does: maps, lists, texts, numbers (Long
 * or Double) and truth values. A field that is null is left out. As in Python, {@code NaN}, {@code
 * Infinity} and {@code -Infinity} are numbers, and of fields of one name the last one counts.
 */
public final class JsonFile {
  /** A {@code config.json} has a few kilobytes, or 3 MB where it lists what is not quantized. */
  private static final long LONGEST_FILE = 8 << 20;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(32).build())
          .build();

  private JsonFile() {}

  /**
   * Reads a file.
   *
   * @param file the file, of 8 MiB at most
   * @return its object
   * @throws FormatException if it is too long, or does not hold one object and nothing else
   * @throws IOException if it is missing, is no file, or cannot be read
   */
  public static Map<String, Object> read(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new FileSystemException(file.toString(), null, "is not a regular file");
    }
    try (StoredBytes bytes = StoredBytes.open(file)) {
      if (bytes.size > LONGEST_FILE) {
        throw bytes.wrong("has %s bytes, at most %s are read", bytes.size, LONGEST_FILE);
      }
      return read(file, bytes.start((int) bytes.size));
    }
  }

  /**
   * Reads what a file holds.
   *
   * @param file named in messages
   * @param content JSON in UTF-8
   * @return its object
   * @throws FormatException if it does not hold one object and nothing else
   */
  public static Map<String, Object> read(Path file, byte[] content) throws FormatException {
    FileSignature.requireNone(file, content);
    requireUtf8(file, content);
    try (JsonParser json = JSON.createParser(content)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new FormatException(file, "is no JSON object");
      }
      Map<String, Object> object = object(json);
      if (json.nextToken() != null) {
        throw new FormatException(file, "continues after its end");
      }
      return object;
    } catch (JsonProcessingException e) {
      String words = e.getOriginalMessage().replace("'+INF'/'-INF'", "'Infinity'/'-Infinity'");
      throw new FormatException(file, "is no JSON: " + words);
    } catch (CharConversionException ignored) {
      throw new FormatException(file, "is no JSON: it is not UTF-8");
    } catch (FormatException e) {
      throw e;
    } catch (IOException e) {
      throw new AssertionError("memory does not fail to be read", e);
    }
  }

  /** The parser lets some bytes pass that are not UTF-8. */
  private static void requireUtf8(Path file, byte[] content) throws FormatException {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(content));
    } catch (CharacterCodingException ignored) {
      throw new FormatException(file, "is no JSON: it is not UTF-8");
    }
  }

  private static Map<String, Object> object(JsonParser json) throws IOException {
    Map<String, Object> object = new LinkedHashMap<>();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      Object value = value(json);
      object.remove(name);
      if (value != null) {
        object.put(name, value);
      }
    }
    return object;
  }

  private static Object value(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE, VALUE_FALSE -> json.getBooleanValue();
      case VALUE_NUMBER_INT -> whole(json);
      case VALUE_NUMBER_FLOAT -> real(json);
      case START_OBJECT -> object(json);
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
          Object element = value(json);
          if (element != null) {
            list.add(element);
          }
        }
        yield list;
      }
      default -> json.getText();
    };
  }

  /** The parser also lets words pass that Python does not have. */
  private static double real(JsonParser json) throws IOException {
    String text = json.getText();
    if (text.endsWith("INF") || text.startsWith("+")) {
      throw new JsonParseException(json, "Non-standard token '" + text + "'");
    }
    return json.getDoubleValue();
  }

  private static Object whole(JsonParser json) throws IOException {
    return switch (json.getNumberType()) {
      case INT, LONG -> (Object) json.getLongValue();
      default -> json.getDoubleValue();
    };
  }
}
