package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * Each rule of converting that scripts have got wrong. The result has the logits of the model; with
 * one rule undone in it, it has others. So a rewriting that drops the rule cannot pass.
 */
class ConvertTrapTest extends WithRewriter {
  private static TinyModel model(String layout) {
    return Layouts.ALL.get(layout).model(StoredType.F64, 11);
  }

  @Test
  void embeddingsAreCentred() throws IOException {
    for (String pair :
        new String[] {
          "gpt2 wte",
          "gpt2 wpe",
          "gpt_neox gpt_neox.embed_in",
          "opt model.decoder.embed_tokens",
          "opt model.decoder.embed_positions"
        }) {
      String[] words = pair.split(" ");
      TinyModel model = model(words[0]);
      TinyModel result = rewriter.convert(model);
      Logits.assertMatters(model, result, result.restored(model, words[1] + ".weight"));
    }
  }

  @Test
  void whatWritesToTheStreamIsCentred() throws IOException {
    for (String pair :
        new String[] {
          "gpt2 h.1.attn.c_proj",
          "gpt2 h.2.mlp.c_proj",
          "gpt_neox gpt_neox.layers.0.attention.dense",
          "gpt_neox gpt_neox.layers.1.mlp.dense_4h_to_h",
          "opt model.decoder.layers.2.self_attn.out_proj",
          "opt model.decoder.layers.0.fc2"
        }) {
      String[] words = pair.split(" ");
      TinyModel model = model(words[0]);
      TinyModel result = rewriter.convert(model);
      Logits.assertMatters(model, result, result.restored(model, words[1] + ".weight"));
      Logits.assertMatters(model, result, result.restored(model, words[1] + ".bias"));
    }
  }

  /**
   * GPT-2's matrix for the stream is square: (inputs, outputs), and the outputs lose their mean.
   */
  @Test
  void squareMatricesOfGpt2AreCentredOverTheirOutputs() throws IOException {
    TinyModel model = model("gpt2");
    TinyModel result = rewriter.convert(model);
    String name = "h.0.attn.c_proj.weight";
    Values stored = model.get(name);
    double[] overInputs = stored.elements().clone();
    for (int i = 0; i < overInputs.length; i++) {
      for (int row = 0; row < stored.rows(); row++) {
        overInputs[i] -= stored.at(row, i % stored.columns()) / stored.rows();
      }
    }
    Logits.assertMatters(model, result, result.with(name, stored.with(overInputs)));
  }

  /** SliceGPT's norm has 1e-5 whatever the model has. */
  @Test
  void epsilonIsKept() throws IOException {
    TinyModel gpt2 = model("gpt2");
    TinyModel result = rewriter.convert(gpt2);
    assertThat(result.number("layer_norm_epsilon")).isEqualTo(1e-3);
    Logits.assertMatters(gpt2, result, result.with("layer_norm_epsilon", 1e-5));
    TinyModel neox = model("gpt_neox");
    result = rewriter.convert(neox);
    Logits.assertMatters(neox, result, result.with("layer_norm_eps", 1e-5));
  }

  @Test
  void anUntiedHeadIsNotCentred() throws IOException {
    TinyModel model = model("gpt2");
    TinyModel result = rewriter.convert(model);
    assertThat(result.get("lm_head.weight").elements())
        .isEqualTo(model.get("wte.weight").elements());
    Logits.assertMatters(model, result, result.with("lm_head.weight", result.get("wte.weight")));
  }
}
