package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import io.github.rmsnorm4j.models.transformer.BlockForm.Biases;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Reads the fields of a {@code config.json}: those of a Llama, which other families share, under
 * other names in a GPT-2. What would change the formula and is not known here is refused, not
 * passed over.
 */
record ConfigReader(
    ConfigFields fields, String type, boolean llama, boolean gpt2, boolean converted) {
  /** Begins the type of a model whose LayerNorms were converted to RMSNorms with gain and bias. */
  private static final String CONVERTED = "rmsnorm4j-";

  private static final String TYPES =
      "llama, mistral, qwen2, qwen3, gpt2, gpt_neox, rmsnorm4j, rmsnorm4j-gpt2, rmsnorm4j-gpt_neox";

  private static final Map<String, String> NAMES_OF_GPT2 =
      Map.of(
          "hidden_size", "n_embd",
          "num_attention_heads", "n_head",
          "num_hidden_layers", "n_layer",
          "intermediate_size", "n_inner",
          "max_position_embeddings", "n_positions",
          "hidden_act", "activation_function",
          "layer_norm_eps", "layer_norm_epsilon");

  /**
   * Reads a config.
   *
   * @param path named in messages
   * @param object what the file holds
   */
  static ModelConfig read(Path path, Map<String, Object> object) throws FormatException {
    try {
      ConfigFields fields = new ConfigFields(path, object);
      String type = fields.text("model_type", "llama");
      if (!List.of(TYPES.split(", ")).contains(type)) {
        throw fields.wrong("model_type", type, "be one of " + TYPES);
      }
      boolean llama = !type.contains("gpt");
      boolean converted = type.startsWith(CONVERTED);
      ConfigReader reader = new ConfigReader(fields, type, llama, type.endsWith("gpt2"), converted);
      reader.refuseOtherFormulas();
      ModelConfig config = reader.model();
      config.parameterCount(); // Whether it can be said at all.
      return config;
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, e.getMessage());
    } catch (ArithmeticException e) {
      throw new FormatException(path, "has more parameters than a file can hold");
    }
  }

  private ModelConfig model() throws FormatException {
    int width = size("hidden_size", null);
    int heads = size("num_attention_heads", null);
    boolean ownHeadWidth = llama && (fields.has("head_dim") || type.equals("qwen3"));
    if (!ownHeadWidth && width % heads != 0) {
      throw fields.wrong(
          name("num_attention_heads"), heads, "divide " + name("hidden_size") + ", " + width);
    }
    Integer usualMlp = gpt2 ? Integer.valueOf(4 * width) : null;
    return new ModelConfig(
        size("vocab_size", null),
        width,
        size("num_hidden_layers", null),
        heads,
        llama ? size("num_key_value_heads", type.equals("llama") ? heads : null) : heads,
        ownHeadWidth ? size("head_dim", null) : width / heads,
        size("intermediate_size", usualMlp),
        size("max_position_embeddings", llama ? 2048 : null),
        rotation(10_000, llama ? "rope_theta" : "rotary_emb_base", "rope_theta"),
        fields.flag("tie_word_embeddings", gpt2),
        norm(),
        fields.choice(ConfigJson.PLACEMENT, Placement.values(), Placement.PRE),
        fields.flag(ConfigJson.QUERY_KEY_NORM, type.equals("qwen3")),
        fields.number("initializer_range", 0.02),
        form());
  }

  private String name(String name) {
    return gpt2 ? NAMES_OF_GPT2.getOrDefault(name, name) : name;
  }

  private int size(String name, Integer absent) throws FormatException {
    int most = name.startsWith("max_") ? Integer.MAX_VALUE : ModelConfig.LARGEST_SIZE;
    return absent == null || fields.has(name(name))
        ? fields.wholeNumber(name(name), 1, most)
        : absent;
  }

  /** A norm with the epsilon of the usual field, unless the text of a norm is there. */
  private NormSpec norm() throws FormatException {
    String epsilon = llama ? "rms_norm_eps" : name("layer_norm_eps");
    NormSpec kind = llama || converted ? NormSpec.RMSNORM : NormSpec.LAYERNORM;
    NormSpec usual = kind.withEpsilon(fields.number(epsilon, llama ? 1e-6 : 1e-5));
    String text = fields.text(ConfigJson.NORM, usual.toString());
    return text.equals(ConfigJson.NO_NORM) ? null : NormSpec.parse(text);
  }

  private BlockForm form() throws FormatException {
    if (llama) {
      Biases biases = type.equals("qwen2") ? Biases.QUERY_KEY_VALUE : Biases.NONE;
      return new BlockForm(MlpKind.SWIGLU, biases, 1, false, false);
    }
    String name = fields.text(name("hidden_act"), gpt2 ? "gelu_new" : "gelu");
    MlpKind mlp =
        switch (name) {
          case "gelu" -> MlpKind.GELU;
          // The constant of gelu_fast differs in the eleventh digit.
          case "gelu_new", "gelu_pytorch_tanh", "gelu_fast" -> MlpKind.GELU_TANH;
          case "relu" -> MlpKind.RELU;
          default ->
              throw fields.wrong(
                  name("hidden_act"),
                  name,
                  "be gelu, gelu_new, gelu_pytorch_tanh, gelu_fast or relu");
        };
    if (gpt2) {
      return new BlockForm(mlp, Biases.ALL, 0, false, converted);
    }
    double share = rotation(0.25, "rotary_pct", "partial_rotary_factor");
    if (!(share > 0 && share <= 1)) { // A share of 0 would be a model without positions.
      throw fields.wrong("rotary_pct", share, "be above 0 and at most 1");
    }
    Biases biases = fields.flag("attention_bias", true) ? Biases.ALL : Biases.MLP;
    boolean parallel = fields.flag("use_parallel_residual", true);
    return new BlockForm(mlp, biases, share, parallel, converted);
  }

  /**
   * A number of the rotation of heads, outside an object or in one, as newer files have it.
   * Programs differ in which they believe, so those that are there must agree.
   */
  private double rotation(double absent, String oldName, String name) throws FormatException {
    List<String> names =
        Stream.of(oldName, name, "rope_parameters." + name, "rope_scaling." + name)
            .filter(fields::has)
            .toList();
    double value = names.isEmpty() ? absent : fields.number(names.getFirst(), null);
    for (String other : names) {
      double number = fields.number(other, null);
      if (Double.compare(number, value) != 0) {
        throw fields.wrong(other, number, "be as " + names.getFirst() + ", " + value);
      }
    }
    return value;
  }

  private void refuseOtherFormulas() throws FormatException {
    for (String name : fields.values().keySet()) {
      requireFixed(name, fixed(name));
    }
    for (String object : gpt2 ? List.<String>of() : List.of("rope_parameters", "rope_scaling")) {
      if (fields.get(object) instanceof Map<?, ?> settings) {
        for (Object setting : settings.keySet()) {
          requireKnownRotation(object + "." + setting, setting.toString());
        }
      } else if (fields.has(object)) {
        throw fields.error("has " + object + ", which is not supported");
      }
    }
    // Qwen's files have the width of a window that is not used unless they say so.
    boolean slides = !type.startsWith("qwen");
    if (llama && fields.has("sliding_window") && fields.flag("use_sliding_window", slides)) {
      throw fields.error("has a sliding_window, which is not supported");
    }
  }

  private void requireKnownRotation(String name, String setting) throws FormatException {
    switch (setting) {
      case "rope_theta" -> {}
      case "rope_type", "type" -> requireFixed(name, "default");
      case "partial_rotary_factor" -> requireFixed(name, llama ? 1 : null);
      default ->
          throw fields.error("has " + Printable.shortened(name) + ", which is not supported");
    }
  }

  /** What a setting must be, where it is set; null for anything. */
  private Object fixed(String name) {
    return switch (name) {
      case "scale_attn_weights" -> true;
      case "rmsnorm4j_head_gate" -> "none"; // Of models that were here once.
      case "scale_attn_by_inverse_layer_idx", "add_cross_attention" -> false;
      case "hidden_act", "hidden_activation" -> llama ? "silu" : null;
      case "attention_bias", "mlp_bias", "use_sliding_window" -> llama ? false : null;
      default -> {
        boolean factor = name.equals("partial_rotary_factor") || name.equals("logits_scaling");
        yield llama && (factor || name.endsWith("_multiplier")) ? 1 : null;
      }
    };
  }

  /** Whether a field is as it must be; null for anything. */
  private void requireFixed(String name, Object fixed) throws FormatException {
    Object value = fields.get(name);
    boolean same =
        fixed instanceof Integer
            ? value instanceof Number number && number.doubleValue() == 1
            : value.equals(fixed);
    if (fixed != null && !same) {
      throw fields.wrong(name, value, "be " + fixed);
    }
  }
}
