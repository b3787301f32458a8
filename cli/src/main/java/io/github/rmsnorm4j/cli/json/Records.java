package io.github.rmsnorm4j.cli.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.github.rmsnorm4j.NormSpec;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Records as JSON: objects whose fields are named as the components; a norm's spec is its text. A
 * number that is NaN or infinite is null there, and NaN when it is read back.
 */
public final class Records {
  private Records() {}

  /**
   * The text of a record.
   *
   * @param value a record of records, lists, numbers, truths, texts and optional ones, which are
   *     null if they are empty
   * @return JSON, indented, and a line break
   */
  public static String write(Record value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.useDefaultPrettyPrinter();
      write(json, value);
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException("a record cannot be written as JSON", e);
    }
    return text + "\n";
  }

  private static void write(JsonGenerator json, Object value)
      throws IOException, ReflectiveOperationException {
    switch (value) {
      case null -> json.writeNull();
      case Optional<?> optional -> write(json, optional.orElse(null));
      case NormSpec spec -> json.writeString(spec.toString());
      case Record fields -> {
        json.writeStartObject();
        for (RecordComponent field : fields.getClass().getRecordComponents()) {
          json.writeFieldName(field.getName());
          Method accessor = field.getAccessor();
          accessor.setAccessible(true); // Records need not be public.
          write(json, accessor.invoke(fields));
        }
        json.writeEndObject();
      }
      case List<?> list -> {
        json.writeStartArray();
        for (Object each : list) {
          write(json, each);
        }
        json.writeEndArray();
      }
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case Double number when !Double.isFinite(number) -> json.writeNull();
      case Double number -> json.writeNumber(number);
      case Boolean yes -> json.writeBoolean(yes);
      default -> json.writeString(value.toString());
    }
  }

  /**
   * Reads what {@link #write} wrote. Every component must be there, and nothing else; how deep it
   * goes is the record's doing and not the text's.
   *
   * @param <R> the record
   * @param type its class
   * @param text JSON
   * @return the record
   * @throws IOException if the text is not of such a record; the message says what is wrong
   */
  public static <R extends Record> R read(Class<R> type, String text) throws IOException {
    try (JsonParser json = new JsonFactory().createParser(text)) {
      json.nextToken();
      R record = type.cast(value(json, type, type.getSimpleName()));
      if (json.nextToken() != null) {
        throw new IOException("there is something behind its end");
      }
      return record;
    }
  }

  private static Object value(JsonParser json, Type type, String name) throws IOException {
    if (type instanceof ParameterizedType list) {
      return list(json, list.getActualTypeArguments()[0], name);
    }
    Class<?> of = (Class<?>) type;
    JsonToken token = json.currentToken();
    if (of.isRecord()) {
      return object(json, of, name);
    }
    if (token == JsonToken.VALUE_NULL && (of == double.class || of == Double.class)) {
      return Double.NaN;
    }
    if (token == JsonToken.VALUE_NULL && !of.isPrimitive()) {
      return null;
    }
    if (of == String.class) {
      require(token == JsonToken.VALUE_STRING, name, "a text");
      return json.getText();
    }
    if (of == boolean.class) {
      require(token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE, name, "a truth");
      return json.getBooleanValue();
    }
    if (of.isEnum()) {
      require(token == JsonToken.VALUE_STRING, name, "a name");
      String text = json.getText();
      return Arrays.stream(of.getEnumConstants())
          .filter(each -> ((Enum<?>) each).name().equals(text) || each.toString().equals(text))
          .findFirst()
          .orElseThrow(() -> wrong(name, "one of " + Arrays.toString(of.getEnumConstants())));
    }
    require(
        token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT,
        name,
        "a number");
    if (of == double.class || of == Double.class) {
      return json.getDoubleValue();
    }
    require(token == JsonToken.VALUE_NUMBER_INT, name, "a whole number");
    return of == int.class ? (Object) json.getIntValue() : (Object) json.getLongValue();
  }

  private static List<Object> list(JsonParser json, Type element, String name) throws IOException {
    require(json.currentToken() == JsonToken.START_ARRAY, name, "a list");
    List<Object> list = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      list.add(value(json, element, name));
    }
    return List.copyOf(list);
  }

  private static Object object(JsonParser json, Class<?> of, String name) throws IOException {
    require(json.currentToken() == JsonToken.START_OBJECT, name, "an object");
    RecordComponent[] components = of.getRecordComponents();
    Map<String, Object> values = new HashMap<>();
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String field = json.currentName();
      RecordComponent component =
          Arrays.stream(components)
              .filter(c -> c.getName().equals(field))
              .findFirst()
              .orElseThrow(() -> new IOException("'" + name + "' has an unknown field"));
      json.nextToken();
      values.put(field, value(json, component.getGenericType(), field));
    }
    Object[] arguments = new Object[components.length];
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      arguments[i] = values.get(components[i].getName());
      require(values.containsKey(components[i].getName()), components[i].getName(), "there");
    }
    try {
      Constructor<?> constructor = of.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException("'" + name + "': " + cause.getMessage(), e);
    }
  }

  private static void require(boolean holds, String name, String must) throws IOException {
    if (!holds) {
      throw wrong(name, must);
    }
  }

  private static IOException wrong(String name, String must) {
    return new IOException("'" + name + "' must be " + must);
  }
}
