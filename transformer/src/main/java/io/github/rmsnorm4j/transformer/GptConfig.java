package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.transformer.BlockForm.Biases;
import java.util.Map;

/**
 * The config of a GPT-2 or a GPT-NeoX, whose fields differ in their names.
 *
 * @param naming of the tensors
 * @param width the names of the fields, from here on
 * @param layers likewise
 * @param heads likewise
 * @param mlpWidth likewise
 * @param maxPositions likewise
 * @param activation likewise
 * @param epsilon likewise
 * @param tied whether the head is the embedding, where the file does not say it
 * @param required fields with the only value that is supported, which is also their default
 */
record GptConfig(
    Naming naming,
    String width,
    String layers,
    String heads,
    String mlpWidth,
    String maxPositions,
    String activation,
    String epsilon,
    boolean tied,
    Map<String, Boolean> required) {
  /** Begins the type of a model whose LayerNorms were converted to RMSNorms with gain and bias. */
  static final String CONVERTED = "rmsnorm4j-";

  static final GptConfig GPT2 =
      new GptConfig(
          Naming.GPT2,
          "n_embd",
          "n_layer",
          "n_head",
          "n_inner",
          "n_positions",
          "activation_function",
          "layer_norm_epsilon",
          true,
          Map.of(
              "scale_attn_weights", true,
              "scale_attn_by_inverse_layer_idx", false,
              "add_cross_attention", false));

  static final GptConfig NEOX =
      new GptConfig(
          Naming.GPT_NEOX,
          "hidden_size",
          "num_hidden_layers",
          "num_attention_heads",
          "intermediate_size",
          "max_position_embeddings",
          "hidden_act",
          "layer_norm_eps",
          false,
          Map.of());

  /** The names of activations. The constant of gelu_fast differs in the eleventh digit. */
  private static final Map<String, MlpKind> ACTIVATIONS =
      Map.of(
          "gelu", MlpKind.GELU,
          "gelu_new", MlpKind.GELU_TANH,
          "gelu_pytorch_tanh", MlpKind.GELU_TANH,
          "gelu_fast", MlpKind.GELU_TANH,
          "relu", MlpKind.RELU);

  StoredConfig read(ConfigFields fields, String type) throws FormatException {
    for (Map.Entry<String, Boolean> entry : required.entrySet()) {
      fields.require(entry.getKey(), entry.getValue());
    }
    int d = fields.wholeNumber(width, null);
    int h = fields.wholeNumber(heads, null);
    if (h < 1 || d % h != 0) {
      throw fields.wrong(heads, h, "divide " + width + ", " + d);
    }
    boolean converted = type.startsWith(CONVERTED);
    ModelConfig model =
        ModelConfig.builder(
                fields.wholeNumber("vocab_size", null), d, fields.wholeNumber(layers, null), h)
            .mlpWidth(mlpWidth(fields, d))
            .maxPositions(fields.wholeNumber(maxPositions, null))
            .ropeTheta(ropeTheta(fields))
            .tied(fields.flag("tie_word_embeddings", tied))
            .norm(
                (converted ? NormSpec.RMSNORM : NormSpec.LAYERNORM)
                    .withEpsilon(fields.number(epsilon, 1e-5)))
            .form(form(fields, converted))
            .build();
    return new StoredConfig(model, naming);
  }

  private int mlpWidth(ConfigFields fields, int width) throws FormatException {
    Integer usual = naming == Naming.GPT2 ? Integer.valueOf(Math.multiplyExact(4, width)) : null;
    int value = fields.wholeNumber(mlpWidth, usual);
    if (value < 1) {
      throw fields.wrong(mlpWidth, value, "be at least 1");
    }
    return value;
  }

  private BlockForm form(ConfigFields fields, boolean converted) throws FormatException {
    boolean gpt2 = naming == Naming.GPT2;
    return new BlockForm(
        mlp(fields),
        gpt2 || fields.flag("attention_bias", true) ? Biases.ALL : Biases.MLP,
        gpt2 ? 0 : rotaryShare(fields),
        !gpt2 && fields.flag("use_parallel_residual", true),
        converted);
  }

  private MlpKind mlp(ConfigFields fields) throws FormatException {
    String name = fields.text(activation, naming == Naming.GPT2 ? "gelu_new" : "gelu");
    MlpKind kind = ACTIVATIONS.get(name);
    if (kind == null) {
      throw fields.wrong(
          activation, name, "be gelu, gelu_new, gelu_pytorch_tanh, gelu_fast or relu");
    }
    return kind;
  }

  private static double ropeTheta(ConfigFields fields) throws FormatException {
    return fields.rotation(10_000, "rope_theta", "rotary_emb_base");
  }

  /** A share of 0 would be a model without positions. */
  private double rotaryShare(ConfigFields fields) throws FormatException {
    fields.refuseOtherRotations(true);
    double share = fields.rotation(0.25, "partial_rotary_factor", "rotary_pct");
    if (!(share > 0 && share <= 1)) {
      throw fields.wrong("rotary_pct", share, "be above 0 and at most 1");
    }
    return share;
  }
}
