package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.internal.ConfigFields;

/** The config of a Llama, of what has a Llama's formula under another name, or of this library. */
final class LlamaConfig {
  private static final BlockForm QWEN2 =
      new BlockForm(MlpKind.SWIGLU, BlockForm.Biases.QUERY_KEY_VALUE, 1, false, false);

  private LlamaConfig() {}

  static ModelConfig read(ConfigFields fields, String type) throws FormatException {
    refuseWhatIsNotThere(fields, type);
    boolean llama = type.equals("llama");
    int width = fields.wholeNumber("hidden_size", null);
    int heads = fields.wholeNumber("num_attention_heads", null);
    if (!fields.has("head_dim") && (heads < 1 || width % heads != 0)) {
      throw fields.wrong("num_attention_heads", heads, "divide hidden_size, " + width);
    }
    Integer usualHeads = type.equals("qwen3") || heads < 1 ? null : Integer.valueOf(width / heads);
    return new ModelConfig(
        fields.wholeNumber("vocab_size", null),
        width,
        fields.wholeNumber("num_hidden_layers", null),
        heads,
        fields.wholeNumber("num_key_value_heads", llama ? heads : null),
        fields.wholeNumber("head_dim", usualHeads),
        fields.wholeNumber("intermediate_size", null),
        fields.wholeNumber("max_position_embeddings", 2048),
        new RotationFields(fields).number(10_000, "rope_theta"),
        fields.flag("tie_word_embeddings", false),
        norm(fields),
        fields.choice(ConfigJson.PLACEMENT, Placement.values(), Placement.PRE),
        fields.flag(ConfigJson.QUERY_KEY_NORM, type.equals("qwen3")),
        fields.choice(ConfigJson.HEAD_GATE, Gate.values(), Gate.NONE),
        fields.number("initializer_range", 0.02),
        type.equals("qwen2") ? QWEN2 : BlockForm.LLAMA);
  }

  /** An RMSNorm with the epsilon of the usual field, unless the text of a norm is there. */
  private static NormSpec norm(ConfigFields fields) throws FormatException {
    NormSpec usual = NormSpec.RMSNORM.withEpsilon(fields.number("rms_norm_eps", 1e-6));
    String text = fields.text(ConfigJson.NORM, usual.toString());
    return text.equals(ConfigJson.NO_NORM) ? null : NormSpec.parse(text);
  }

  /** Settings of other formulas, where they are set. */
  private static void refuseWhatIsNotThere(ConfigFields fields, String type)
      throws FormatException {
    for (String activation : new String[] {"hidden_act", "hidden_activation"}) {
      if (!fields.text(activation, "silu").equals("silu")) {
        throw fields.wrong(activation, fields.text(activation, ""), "be silu");
      }
    }
    for (String bias : new String[] {"attention_bias", "mlp_bias", "use_sliding_window"}) {
      fields.require(bias, false);
    }
    for (String factor : fields.values().keySet()) {
      boolean known = factor.equals("partial_rotary_factor") || factor.equals("logits_scaling");
      if ((known || factor.endsWith("_multiplier")) && fields.number(factor, 1.0) != 1) {
        throw fields.wrong(factor, fields.number(factor, 1.0), "be 1");
      }
    }
    new RotationFields(fields).refuseOthers(false);
    // Qwen's files have the width of a window that is not used unless they say so.
    boolean slides = fields.flag("use_sliding_window", !type.startsWith("qwen"));
    if (fields.has("sliding_window") && slides) {
      throw fields.error("has a sliding_window, which is not supported");
    }
  }
}
