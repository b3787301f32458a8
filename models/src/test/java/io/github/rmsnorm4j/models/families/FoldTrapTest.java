package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each rule of folding that scripts have got wrong. The result has the logits of the model; with
 * one rule undone in it, it has others. So a rewriting that drops the rule cannot pass.
 */
class FoldTrapTest extends WithRewriter {
  private static TinyModel model(String layout) {
    return Layouts.ALL.get(layout).model(StoredType.F64, 11);
  }

  @Test
  void theBiasIsFoldedBeforeTheGain() throws IOException {
    TinyModel model = model("gpt2");
    TinyModel result = rewriter.fold(model);
    Values matrix = result.get("h.0.mlp.c_fc.weight"); // has the gain
    double[] beta = model.get("h.0.ln_2.bias").elements();
    double[] wrong = model.get("h.0.mlp.c_fc.bias").elements().clone();
    for (int i = 0; i < matrix.rows(); i++) {
      for (int o = 0; o < matrix.columns(); o++) {
        wrong[o] += matrix.at(i, o) * beta[i];
      }
    }
    Values bias = result.get("h.0.mlp.c_fc.bias");
    Logits.assertMatters(model, result, result.with("h.0.mlp.c_fc.bias", bias.with(wrong)));
  }

  /** QuaRot and SpinQuant subtract the mean of embeddings from models with RMSNorm too. */
  @ParameterizedTest
  @ValueSource(strings = {"llama", "gemma", "olmo2", "t5-gated"})
  void modelsWithRmsNormAreNotCentred(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    String embedding = name.startsWith("t5") ? "shared.weight" : "model.embed_tokens.weight";
    Values stored = model.get(embedding);
    assertThat(result.get(embedding).elements()).isEqualTo(stored.elements());
    double[] centred = stored.elements().clone();
    for (int i = 0; i < centred.length; i++) {
      centred[i] -= Arrays.stream(stored.row(i / 24)).average().orElseThrow();
    }
    Logits.assertMatters(model, result, result.with(embedding, stored.with(centred)));
  }

  @Test
  void gainsLessOneAreFoldedWithTheOne() throws IOException {
    for (String name : new String[] {"gemma", "gemma2", "gemma3"}) {
      TinyModel model = model(name);
      TinyModel result = rewriter.fold(model);
      String matrix = "model.layers.0.mlp.up_proj.weight";
      String norm =
          "model.layers.0."
              + (name.equals("gemma") ? "post_attention" : "pre_feedforward")
              + "_layernorm.weight";
      double[] stored = model.get(norm).elements();
      Values wrong = model.get(matrix).scaledColumns(i -> stored[i]);
      Logits.assertMatters(model, result, result.with(matrix, wrong));
      Logits.assertMatters(model, result, result.with(norm, model.get(norm).filled(1)));
    }
  }

  /** A square matrix does not tell by its shape which axis the inputs are. */
  @Test
  void gpt2MatricesAreTransposed() throws IOException {
    Layout layout = Layouts.ALL.get("gpt2").with("n_inner", 24);
    TinyModel model =
        layout
            .replace("c_fc.weight conv D F", "c_fc.weight conv D D")
            .replace("c_fc.bias bias F", "c_fc.bias bias D")
            .replace("mlp.c_proj.weight conv F D", "mlp.c_proj.weight conv D D")
            .model(StoredType.F64, 12);
    TinyModel result = rewriter.fold(model);
    String name = "h.1.mlp.c_fc.weight";
    double[] gain = model.get("h.1.ln_2.weight").elements();
    Values wrong = model.get(name).scaledColumns(i -> gain[i]);
    Logits.assertMatters(model, result, result.with(name, wrong));
    TinyModel converted = rewriter.convert(model);
    assertThat(Logits.distance(model, converted)).isLessThan(1e-12);
  }

  /** The gain of a norm of heads cannot go into the projection before it. */
  @ParameterizedTest
  @ValueSource(strings = {"qwen3", "gemma3", "olmo2"})
  void normsOfQueriesAndKeysAreLeftAlone(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    for (String part : new String[] {"q", "k"}) {
      String norm = "model.layers.1.self_attn." + part + "_norm.weight";
      String matrix = "model.layers.1.self_attn." + part + "_proj.weight";
      double[] stored = model.get(norm).elements();
      assertThat(result.get(norm).elements()).isEqualTo(stored);
      double offset = name.equals("gemma3") ? 1 : 0;
      Values wrong = result.get(matrix).scaledRows(row -> stored[row % stored.length] + offset);
      TinyModel broken = result.with(norm, model.get(norm).filled(1 - offset));
      Logits.assertMatters(model, result, broken.with(matrix, wrong));
    }
  }

  /** Nor can that of a norm whose output is added to the stream. */
  @ParameterizedTest
  @ValueSource(strings = {"gemma2", "gemma3", "olmo2"})
  void normsBehindABranchAreLeftAlone(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    for (String pair :
        new String[] {
          "post_attention_layernorm self_attn.o_proj", "post_feedforward_layernorm mlp.down_proj"
        }) {
      String norm = "model.layers.0." + pair.split(" ")[0] + ".weight";
      String matrix = "model.layers.0." + pair.split(" ")[1] + ".weight";
      double[] stored = model.get(norm).elements();
      assertThat(result.get(norm).elements()).isEqualTo(stored);
      double offset = name.startsWith("gemma") ? 1 : 0;
      Values wrong = result.get(matrix).scaledRows(row -> stored[row] + offset);
      TinyModel broken = result.with(norm, model.get(norm).filled(1 - offset));
      Logits.assertMatters(model, result, broken.with(matrix, wrong));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"t5", "t5-gated-tied"})
  void theEncodersLastGainGoesIntoEveryCrossAttention(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    for (int block = 0; block < 3; block++) {
      for (String part : new String[] {"k", "v"}) {
        String matrix = "decoder.block." + block + ".layer.1.EncDecAttention." + part + ".weight";
        Logits.assertMatters(model, result, result.restored(model, matrix));
      }
      // Queries are of the decoder's own norm.
      String queries = "decoder.block." + block + ".layer.1.EncDecAttention.q.weight";
      double[] gain = model.get("encoder.final_layer_norm.weight").elements();
      Values wrong = result.get(queries).scaledColumns(i -> gain[i]);
      Logits.assertMatters(model, result, result.with(queries, wrong));
    }
  }

  @Test
  void theScaleOfT5sTiedHeadStays() throws IOException {
    TinyModel model = model("t5");
    TinyModel result = rewriter.foldUntied(model);
    Values head = result.get("lm_head.weight");
    Logits.assertMatters(
        model,
        result,
        result.with("lm_head.weight", head.scaledRows(_ -> Math.sqrt(model.number("d_model")))));
    TinyModel tied = rewriter.fold(model);
    assertThat(tied.flag("tie_word_embeddings")).isTrue();
    assertThat(tied.get("shared.weight").elements())
        .isEqualTo(model.get("shared.weight").elements());
  }

  /** In a parallel block each of two norms has its own branch. */
  @ParameterizedTest
  @ValueSource(strings = {"gpt_neox", "gpt_neox-sequential"})
  void eachNormOfAParallelBlockGoesIntoItsOwnBranch(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    String at = "gpt_neox.layers.1.";
    String matrix = at + "mlp.dense_h_to_4h.weight";
    double[] other = model.get(at + "input_layernorm.weight").elements();
    Values wrong = model.get(matrix).scaledColumns(i -> other[i]);
    Logits.assertMatters(model, result, result.with(matrix, wrong));
  }

  /** One norm, several matrices: none may be forgotten. */
  @Test
  void everyMatrixThatSharesANormTakesItsGain() throws IOException {
    for (String name : new String[] {"llama", "qwen2", "opt", "t5-gated"}) {
      TinyModel model = model(name);
      TinyModel result = rewriter.fold(model);
      String[] matrices =
          switch (name) {
            case "opt" -> names("model.decoder.layers.1.self_attn.%s_proj.weight", "q", "k", "v");
            case "t5-gated" ->
                names("encoder.block.1.layer.1.DenseReluDense.%s.weight", "wi_0", "wi_1");
            default ->
                names(
                    "model.layers.1.%s_proj.weight",
                    "self_attn.q", "self_attn.k", "self_attn.v", "mlp.gate", "mlp.up");
          };
      for (String matrix : matrices) {
        Logits.assertMatters(model, result, result.restored(model, matrix));
      }
    }
  }

  private static String[] names(String pattern, String... parts) {
    return Arrays.stream(parts).map(pattern::formatted).toArray(String[]::new);
  }

  /**
   * A head without a bias cannot take the last norm's bias, so that norm keeps its gain as well.
   */
  @ParameterizedTest
  @ValueSource(strings = {"gpt_neox", "gpt2-untied", "opt-untied"})
  void aBiasThatHasNowhereToGoStays(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel result = rewriter.fold(model);
    String norm =
        switch (name) {
          case "gpt_neox" -> "gpt_neox.final_layer_norm.bias";
          case "gpt2-untied" -> "transformer.ln_f.bias";
          default -> "model.decoder.final_layer_norm.bias";
        };
    assertThat(result.get(norm).elements()).isEqualTo(model.get(norm).elements());
    Logits.assertMatters(model, result, result.with(norm, model.get(norm).filled(0)));
  }
}
