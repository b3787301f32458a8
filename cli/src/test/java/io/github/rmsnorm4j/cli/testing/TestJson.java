package io.github.rmsnorm4j.cli.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, texts and doubles; null, which stands for what is not a number, is NaN. */
public final class TestJson {
  private TestJson() {}

  public static Map<?, ?> read(Path file) throws IOException {
    return (Map<?, ?>) parsed(Files.readString(file));
  }

  public static Object parsed(String text) throws IOException {
    try (JsonParser parser = new JsonFactory().createParser(text)) {
      parser.nextToken();
      return value(parser);
    }
  }

  private static Object value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Object> object = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          object.put(name, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_NULL -> Double.NaN;
      default -> parser.getText();
    };
  }

  /** What is at a path of names and indices, with dots between; the test fails without it. */
  @SuppressWarnings("unchecked") // What is asked for in a test is there or the test fails.
  public static <T> T get(Object from, String path) {
    Object value = from;
    for (String name : path.split("\\.")) {
      value =
          value instanceof List<?> list
              ? list.get(Integer.parseInt(name))
              : ((Map<?, ?>) value).get(name);
      assertThat(value).as(path).isNotNull();
    }
    return (T) value;
  }
}
