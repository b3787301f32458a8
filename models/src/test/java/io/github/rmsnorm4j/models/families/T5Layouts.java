package io.github.rmsnorm4j.models.families;

import java.util.Map;

/** The layouts of T5. */
final class T5Layouts {
  private T5Layouts() {}

  static void addTo(Map<String, Layout> all) {
    String relu = "layer.N.DenseReluDense.wi.weight matrix F D\n";
    String gated =
        """
        layer.N.DenseReluDense.wi_0.weight matrix F D
        layer.N.DenseReluDense.wi_1.weight matrix F D
        """;
    all.put("t5", t5(relu).with("feed_forward_proj", "relu", "tie_word_embeddings", true));
    all.put(
        "t5-gated",
        t5(gated)
            .plus(Layouts.HEAD)
            .with("feed_forward_proj", "gated-gelu", "tie_word_embeddings", false));
    all.put(
        "t5-gated-tied",
        t5(gated).with("feed_forward_proj", "gated-gelu", "tie_word_embeddings", true));
  }

  private static Layout t5(String inner) {
    Map<String, Integer> sizes =
        Map.of("V", Layouts.VOCABULARY, "D", 24, "Q", 30, "F", 20, "B", 8, "h", 3, "L", 2, "M", 3);
    String attention =
        """
        layer.N.layer_norm.weight gain D
        layer.N.Name.q.weight matrix Q D
        layer.N.Name.k.weight matrix Q D
        layer.N.Name.v.weight matrix Q D
        layer.N.Name.o.weight matrix D Q
        """;
    String mlp =
        "layer.N.layer_norm.weight gain D\n"
            + inner
            + "layer.N.DenseReluDense.wo.weight matrix D F\n";
    String self = attention.replace(".N.", ".0.").replace("Name", "SelfAttention");
    String cross = attention.replace(".N.", ".1.").replace("Name", "EncDecAttention");
    String encoder = self + mlp.replace(".N.", ".1.");
    String decoder = self + cross + mlp.replace(".N.", ".2.");
    String tensors =
        "shared.weight embedding V D\n"
            + encoder.replaceAll("(?m)^(?=.)", "encoder.block.*.")
            + "encoder.final_layer_norm.weight gain D\n"
            + "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight bias B h\n"
            + decoder.replaceAll("(?m)^(?=.)", "decoder.block.#.")
            + "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight bias B h\n"
            + "decoder.final_layer_norm.weight gain D\n";
    return Layout.of("t5", "T5ForConditionalGeneration", sizes, tensors)
        .with(
            "vocab_size", Layouts.VOCABULARY, "d_model", 24, "d_kv", 10, "num_heads", 3, "d_ff", 20)
        .with("num_layers", 2, "num_decoder_layers", 3, "layer_norm_epsilon", 1e-3)
        .with("relative_attention_num_buckets", 8, "relative_attention_max_distance", 16)
        .with("is_encoder_decoder", true);
  }
}
