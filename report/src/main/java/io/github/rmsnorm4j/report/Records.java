package io.github.rmsnorm4j.report;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.github.rmsnorm4j.NormSpec;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Records as JSON: objects whose fields are named as the components; a norm's spec is its text. A
 * number that is NaN or infinite is null there, and NaN when it is read back.
 */
public final class Records {
  private static final JsonMapper JSON = mapper();

  private Records() {}

  private static JsonMapper mapper() {
    SimpleModule types = new SimpleModule();
    types.addSerializer(NormSpec.class, ToStringSerializer.instance);
    types.addSerializer(Optional.class, new OptionalWriter());
    for (Class<Double> number : List.of(Double.class, double.class)) {
      types.addSerializer(number, new NumberWriter());
      types.addDeserializer(number, new NumberReader());
    }
    JsonMapper mapper =
        JsonMapper.builder()
            .addModule(types)
            .visibility(PropertyAccessor.IS_GETTER, Visibility.NONE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .enable(SerializationFeature.WRITE_ENUMS_USING_TO_STRING)
            .enable(
                DeserializationFeature.READ_ENUMS_USING_TO_STRING,
                DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS,
                DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build();
    mapper.setDefaultSetterInfo(JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL));
    for (Class<?> absent : List.of(double.class, Double.class, Long.class, String.class)) {
      mapper.configOverride(absent).setSetterInfo(JsonSetter.Value.forValueNulls(Nulls.SET));
    }
    return mapper;
  }

  /**
   * The text of a record.
   *
   * @param value whose components are records, lists, optionals, numbers, truths, texts, enums or
   *     specs of norms
   * @return JSON, indented, and a line break
   */
  public static String write(Record value) {
    try {
      return JSON.writeValueAsString(value) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a record cannot be written as JSON", e);
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
    try {
      return Optional.ofNullable(JSON.readValue(text, type))
          .orElseThrow(() -> new IOException("it is null"));
    } catch (JsonMappingException e) {
      String place =
          e.getPath().stream()
              .map(JsonMappingException.Reference::getFieldName)
              .filter(Objects::nonNull)
              .collect(Collectors.joining("."));
      String wrong =
          switch (e) {
            case UnrecognizedPropertyException _ -> "is an unknown field";
            case MismatchedInputException _ when place.isEmpty() ->
                "is of another kind than it must be, or there is something after its end";
            case MismatchedInputException _ -> "is missing, or of another kind than it must be";
            default -> e.getOriginalMessage();
          };
      throw new IOException(
          "'%s' %s".formatted(place.isEmpty() ? type.getSimpleName() : place, wrong), e);
    } catch (JsonProcessingException e) {
      throw new IOException(e.getOriginalMessage(), e);
    }
  }

  private static final class OptionalWriter extends JsonSerializer<Object> {
    @Override
    public void serialize(Object value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      provider.defaultSerializeValue(((Optional<?>) value).orElse(null), json);
    }
  }

  private static final class NumberWriter extends JsonSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      if (Double.isFinite(value)) {
        json.writeNumber(value);
      } else {
        json.writeNull();
      }
    }
  }

  private static final class NumberReader extends JsonDeserializer<Double> {
    @Override
    public Double deserialize(JsonParser json, DeserializationContext context) throws IOException {
      return json.currentToken().isNumeric()
          ? (Double) json.getDoubleValue()
          : (Double) context.handleUnexpectedToken(double.class, json);
    }

    @Override
    public Double getNullValue(DeserializationContext context) {
      return Double.NaN;
    }
  }
}
