package io.github.rmsnorm4j.models;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Rules as records. What is wrong in a file of rules is told by the place of its field. */
final class RuleRecords {
  /** Longer than any pattern or reason. Limits what names cost that are made from a pattern. */
  private static final int LONGEST_TEXT = 1000;

  private static final JsonSetter.Value EMPTY = JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY);

  static final JsonMapper JSON = mapper();

  private RuleRecords() {}

  /** A list or a text that is not there is empty. */
  private static JsonMapper mapper() {
    SimpleModule texts = new SimpleModule();
    texts.addDeserializer(String.class, new Text<>(String.class, text -> text));
    texts.addDeserializer(NamePattern.class, new Text<>(NamePattern.class, NamePattern::new));
    texts.addDeserializer(NormSpec.class, new Text<>(NormSpec.class, NormSpec::parse));
    JsonMapper.Builder mapper =
        JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .addModule(texts);
    for (Class<?> type : List.of(List.class, Set.class, String.class)) {
      mapper.withConfigOverride(type, empty -> empty.setSetterInfo(EMPTY));
    }
    return mapper.build();
  }

  /** Makes a record of fields. Each must be one of the record's, and of its type. */
  static <R extends Record> R read(Path file, Map<String, Object> fields, Class<R> type)
      throws FormatException {
    try {
      return JSON.convertValue(fields, type);
    } catch (IllegalArgumentException e) {
      if (e.getCause() instanceof JsonMappingException wrong) {
        throw new FormatException(file, problem(wrong));
      }
      throw e;
    }
  }

  private static String problem(JsonMappingException e) {
    StringBuilder path = new StringBuilder();
    for (JsonMappingException.Reference at : e.getPath()) {
      if (at.getFieldName() == null) {
        path.append('[').append(at.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(Printable.shortened(at.getFieldName()));
      }
    }
    String where = path.isEmpty() ? "" : path + ": ";
    return switch (e) {
      case UnrecognizedPropertyException _ -> path + " is not a known field";
      case ValueInstantiationException made -> where + made.getCause().getMessage();
      case MismatchedInputException other -> path + " is not " + kind(other.getTargetType());
      default -> where + e.getOriginalMessage();
    };
  }

  private static String kind(Class<?> type) {
    if (Collection.class.isAssignableFrom(type)) {
      return "a list";
    }
    return switch (type.getSimpleName()) {
      case "boolean", "Boolean" -> "true or false";
      case "double" -> "a number";
      case "String", "NamePattern", "NormSpec" -> "a text";
      default -> "an object";
    };
  }

  /** What is made of a text. */
  private static final class Text<T> extends StdDeserializer<T> {
    private static final long serialVersionUID = 1;

    private final transient Function<String, T> maker;

    Text(Class<T> type, Function<String, T> maker) {
      super(type);
      this.maker = maker;
    }

    @Override
    public Object getEmptyValue(DeserializationContext context) {
      return "";
    }

    @Override
    public T deserialize(JsonParser json, DeserializationContext context) throws IOException {
      if (!json.hasToken(JsonToken.VALUE_STRING)) {
        throw MismatchedInputException.from(json, handledType(), "no text");
      }
      String text = json.getText();
      if (text.length() > LONGEST_TEXT) {
        throw JsonMappingException.from(
            json,
            "it has %s characters, at most %s are read".formatted(text.length(), LONGEST_TEXT));
      }
      try {
        return maker.apply(text);
      } catch (IllegalArgumentException e) {
        throw JsonMappingException.from(json, e.getMessage(), e);
      }
    }
  }
}
