package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import io.github.rmsnorm4j.models.transformer.BlockForm.Biases;
import java.util.Map;

/** The config of a GPT-2 or a GPT-NeoX, whose fields differ in their names. */
record GptConfig(ConfigFields fields, boolean gpt2) {
  /** Begins the type of a model whose LayerNorms were converted to RMSNorms with gain and bias. */
  static final String CONVERTED = "rmsnorm4j-";

  /** The names of activations. The constant of gelu_fast differs in the eleventh digit. */
  private static final Map<String, MlpKind> ACTIVATIONS =
      Map.of(
          "gelu", MlpKind.GELU,
          "gelu_new", MlpKind.GELU_TANH,
          "gelu_pytorch_tanh", MlpKind.GELU_TANH,
          "gelu_fast", MlpKind.GELU_TANH,
          "relu", MlpKind.RELU);

  /** The config; with {@code converted} the norms are RMSNorms. */
  ModelConfig read(boolean converted) throws FormatException {
    if (gpt2) {
      fields.require("scale_attn_weights", true);
      fields.require("scale_attn_by_inverse_layer_idx", false);
      fields.require("add_cross_attention", false);
    }
    String widthName = gpt2 ? "n_embd" : "hidden_size";
    String headsName = gpt2 ? "n_head" : "num_attention_heads";
    int width = fields.wholeNumber(widthName, null);
    int heads = fields.wholeNumber(headsName, null);
    if (heads < 1 || width % heads != 0) {
      throw fields.wrong(headsName, heads, "divide " + widthName + ", " + width);
    }
    int layers = fields.wholeNumber(gpt2 ? "n_layer" : "num_hidden_layers", null);
    String epsilon = gpt2 ? "layer_norm_epsilon" : "layer_norm_eps";
    return ModelConfig.builder(fields.wholeNumber("vocab_size", null), width, layers, heads)
        .mlpWidth(mlpWidth(width))
        .maxPositions(fields.wholeNumber(gpt2 ? "n_positions" : "max_position_embeddings", null))
        .ropeTheta(new RotationFields(fields).number(10_000, "rope_theta", "rotary_emb_base"))
        .tied(fields.flag("tie_word_embeddings", gpt2))
        .norm(
            (converted ? NormSpec.RMSNORM : NormSpec.LAYERNORM)
                .withEpsilon(fields.number(epsilon, 1e-5)))
        .form(form(converted))
        .build();
  }

  private int mlpWidth(int width) throws FormatException {
    String name = gpt2 ? "n_inner" : "intermediate_size";
    int value =
        fields.wholeNumber(name, gpt2 ? Integer.valueOf(Math.multiplyExact(4, width)) : null);
    if (value < 1) {
      throw fields.wrong(name, value, "be at least 1");
    }
    return value;
  }

  private BlockForm form(boolean converted) throws FormatException {
    return new BlockForm(
        mlp(),
        gpt2 || fields.flag("attention_bias", true) ? Biases.ALL : Biases.MLP,
        gpt2 ? 0 : rotaryShare(),
        !gpt2 && fields.flag("use_parallel_residual", true),
        converted);
  }

  private MlpKind mlp() throws FormatException {
    String activation = gpt2 ? "activation_function" : "hidden_act";
    String name = fields.text(activation, gpt2 ? "gelu_new" : "gelu");
    MlpKind kind = ACTIVATIONS.get(name);
    if (kind == null) {
      throw fields.wrong(
          activation, name, "be gelu, gelu_new, gelu_pytorch_tanh, gelu_fast or relu");
    }
    return kind;
  }

  /** A share of 0 would be a model without positions. */
  private double rotaryShare() throws FormatException {
    RotationFields rotation = new RotationFields(fields);
    rotation.refuseOthers(true);
    double share = rotation.number(0.25, "partial_rotary_factor", "rotary_pct");
    if (!(share > 0 && share <= 1)) {
      throw fields.wrong("rotary_pct", share, "be above 0 and at most 1");
    }
    return share;
  }
}
