package io.github.rmsnorm4j.transformer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.github.rmsnorm4j.formats.FormatException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads a {@code config.json}: of a Llama, of what has a Llama's formula under another name, or of
 * this library. What would change the formula and is not known here is refused, not passed over.
 */
final class ConfigParser {
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final Set<String> TYPES = Set.of("llama", "mistral", "qwen3", ConfigJson.OWN_TYPE);

  /** Objects of settings of the rotation; older files have the second. */
  private static final Set<String> ROTATIONS = Set.of("rope_parameters", "rope_scaling");

  private final Path path;

  /**
   * Numbers, texts and truth values; what is null is left out, and what is nested is {@link
   * #NESTED}.
   */
  private final Map<String, Object> fields = new HashMap<>();

  private static final Object NESTED = new Object();

  private ConfigParser(Path path) {
    this.path = path;
  }

  /**
   * Reads a config.
   *
   * @param path named in messages
   * @param text what the file holds
   */
  static ModelConfig parse(Path path, String text) throws FormatException {
    ConfigParser parser = new ConfigParser(path);
    parser.read(text);
    return parser.config();
  }

  private void read(String text) throws FormatException {
    try (JsonParser json = JSON.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new FormatException(path, "is no JSON object");
      }
      readObject(json, "");
      if (json.nextToken() != null) {
        throw new FormatException(path, "goes on after its end");
      }
    } catch (JacksonException e) {
      throw new FormatException(path, "is no JSON: " + e.getOriginalMessage());
    } catch (FormatException e) {
      throw e;
    } catch (IOException e) {
      throw new AssertionError("a string does not fail to be read", e);
    }
  }

  /** Newer files have what concerns the rotation in an object of its own. */
  private void readObject(JsonParser json, String prefix) throws IOException {
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = prefix + json.currentName();
      switch (json.nextToken()) {
        case VALUE_NULL -> fields.remove(name);
        case VALUE_STRING -> fields.put(name, json.getText());
        case VALUE_TRUE, VALUE_FALSE -> fields.put(name, json.getBooleanValue());
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> fields.put(name, json.getDoubleValue());
        case START_OBJECT -> {
          if (ROTATIONS.contains(name)) {
            readObject(json, name + ".");
          } else {
            fields.put(name, NESTED);
            json.skipChildren();
          }
        }
        default -> {
          fields.put(name, NESTED);
          json.skipChildren();
        }
      }
    }
  }

  private ModelConfig config() throws FormatException {
    String type = text("model_type", "llama");
    if (!TYPES.contains(type)) {
      throw wrong("model_type", type, "be llama, mistral, qwen3 or " + ConfigJson.OWN_TYPE);
    }
    refuseWhatIsNotThere();
    boolean llama = type.equals("llama");
    int width = wholeNumber("hidden_size", null);
    int heads = wholeNumber("num_attention_heads", null);
    if (!fields.containsKey("head_dim") && (heads < 1 || width % heads != 0)) {
      throw wrong("num_attention_heads", heads, "divide hidden_size, " + width);
    }
    Integer usualHeads = type.equals("qwen3") || heads < 1 ? null : Integer.valueOf(width / heads);
    NormKind norm = choice(ConfigJson.NORM, NormKind.values(), NormKind.RMS_NORM);
    Placement placement = choice(ConfigJson.PLACEMENT, Placement.values(), Placement.PRE);
    try {
      ModelConfig config =
          new ModelConfig(
              wholeNumber("vocab_size", null),
              width,
              wholeNumber("num_hidden_layers", null),
              heads,
              wholeNumber("num_key_value_heads", llama ? heads : null),
              wholeNumber("head_dim", usualHeads),
              wholeNumber("intermediate_size", null),
              wholeNumber("max_position_embeddings", 2048),
              ropeTheta(),
              flag("tie_word_embeddings", false),
              norm,
              number(ConfigJson.NORM_SHARE, 0.0625),
              number("rms_norm_eps", 1e-6),
              placement,
              flag(ConfigJson.QUERY_KEY_NORM, type.equals("qwen3")),
              number("initializer_range", 0.02));
      config.parameterCount(); // Whether it can be said at all.
      return config;
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, e.getMessage());
    } catch (ArithmeticException e) {
      throw new FormatException(path, "has more parameters than a file can hold");
    }
  }

  private double ropeTheta() throws FormatException {
    double theta = number("rope_theta", 10_000.0);
    for (String rotation : ROTATIONS) {
      theta = number(rotation + ".rope_theta", theta);
    }
    return theta;
  }

  /** Settings of other formulas, where they are set. */
  private void refuseWhatIsNotThere() throws FormatException {
    for (String activation : new String[] {"hidden_act", "hidden_activation"}) {
      if (!text(activation, "silu").equals("silu")) {
        throw wrong(activation, text(activation, ""), "be silu");
      }
    }
    for (String bias : new String[] {"attention_bias", "mlp_bias", "use_sliding_window"}) {
      if (flag(bias, false)) {
        throw wrong(bias, true, "be false");
      }
    }
    for (String factor : new TreeSet<>(fields.keySet())) {
      boolean known = factor.equals("partial_rotary_factor") || factor.equals("logits_scaling");
      if ((known || factor.endsWith("_multiplier")) && number(factor, 1.0) != 1) {
        throw wrong(factor, fields.get(factor), "be 1");
      }
    }
    refuseOtherRotations();
    boolean slides = !Boolean.FALSE.equals(fields.get("use_sliding_window"));
    if (fields.containsKey("sliding_window") && slides) {
      throw new FormatException(path, "has a sliding_window, which is not supported");
    }
  }

  /** Whatever the object of a rotation says but its base. */
  private void refuseOtherRotations() throws FormatException {
    for (String name : new TreeSet<>(fields.keySet())) {
      int dot = name.indexOf('.');
      String setting = dot < 0 ? "" : name.substring(dot + 1);
      if (ROTATIONS.contains(dot < 0 ? name : name.substring(0, dot))) {
        refuseOtherRotation(name, setting);
      }
    }
  }

  private void refuseOtherRotation(String name, String setting) throws FormatException {
    switch (setting) {
      case "rope_theta" -> number(name, null);
      case "rope_type", "type" -> {
        if (!text(name, null).equals("default")) {
          throw wrong(name, fields.get(name), "be default");
        }
      }
      case "partial_rotary_factor" -> {
        if (number(name, null) != 1) {
          throw wrong(name, fields.get(name), "be 1");
        }
      }
      default -> throw new FormatException(path, "has " + name + ", which is not supported");
    }
  }

  private int wholeNumber(String name, Integer absent) throws FormatException {
    double value = number(name, absent == null ? null : absent.doubleValue());
    if (value != Math.rint(value) || Math.abs(value) > Integer.MAX_VALUE) {
      throw wrong(name, value, "be a whole number below 2^31");
    }
    return (int) value;
  }

  private double number(String name, Double absent) throws FormatException {
    return get(name, Double.class, "a number", absent);
  }

  private boolean flag(String name, Boolean absent) throws FormatException {
    return get(name, Boolean.class, "true or false", absent);
  }

  private String text(String name, String absent) throws FormatException {
    return get(name, String.class, "a text", absent);
  }

  private <T> T get(String name, Class<T> type, String what, T absent) throws FormatException {
    Object value = fields.get(name);
    if (value == null && absent == null) {
      throw new FormatException(path, "lacks " + name);
    }
    if (value != null && !type.isInstance(value)) {
      Object shown = value instanceof String ? "'" + value + "'" : value;
      throw wrong(name, value == NESTED ? "a list or an object" : shown, "be " + what);
    }
    return value == null ? absent : type.cast(value);
  }

  private <E extends Enum<E>> E choice(String name, E[] values, E absent) throws FormatException {
    String label = text(name, label(absent));
    for (E value : values) {
      if (label(value).equals(label)) {
        return value;
      }
    }
    throw wrong(
        name, label, "be one of " + Arrays.stream(values).map(ConfigParser::label).toList());
  }

  static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private FormatException wrong(String name, Object value, String must) {
    String shown = String.valueOf(value);
    String cut = shown.length() > 80 ? shown.substring(0, 80) + "..." : shown;
    return new FormatException(path, name + " is " + cut + ", it must " + must);
  }
}
