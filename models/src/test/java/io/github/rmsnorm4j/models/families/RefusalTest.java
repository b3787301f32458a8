package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.RefusedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that cannot be rewritten are refused, with the reason, and nothing is written. */
class RefusalTest extends WithRewriter {
  private static TinyModel model(String layout) {
    return Layouts.ALL.get(layout).model(StoredType.F32, 13);
  }

  private void assertRefused(TinyModel model, Goal goal, boolean untie, String... reasons)
      throws IOException {
    Path in = rewriter.write(model, 1);
    assertThatThrownBy(() -> rewriter.rewrite(in, goal, untie))
        .isInstanceOf(RefusedException.class)
        .hasMessageStartingWith(in + " cannot be " + goal + ": ")
        .message()
        .contains(reasons)
        .doesNotContain("\n");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).allMatch(file -> file.getFileName().toString().startsWith("in"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "gpt2-prefixed", "opt"})
  void aTiedHeadIsNotConvertedUnasked(String name) throws IOException {
    assertRefused(model(name), Goal.CONVERT, false, "token embedding", "--untie");
  }

  @Test
  void opt350mIsNotConverted() throws IOException {
    for (boolean untie : new boolean[] {false, true}) {
      assertRefused(model("opt-350m"), Goal.CONVERT, untie, "do_layer_norm_before is false");
    }
  }

  /** Here the head reads the stream itself, mean and all. */
  @Test
  void optWithoutALastNormIsNotConverted() throws IOException {
    assertRefused(model("opt-no-final-norm"), Goal.CONVERT, true, "final_layer_norm");
    TinyModel untied =
        model("opt-no-final-norm")
            .with("tie_word_embeddings", false)
            .with("lm_head.weight", model("opt-untied").get("lm_head.weight"));
    assertRefused(untied, Goal.CONVERT, false, "final_layer_norm");
  }

  /** Among them those that have norms behind their branches: Gemma 2 and 3, OLMo 2. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama",
        "mistral",
        "qwen2",
        "qwen3",
        "gemma",
        "gemma2",
        "gemma3",
        "olmo2",
        "phi3",
        "t5",
        "t5-gated"
      })
  void modelsWithRmsNormAreNotConverted(String name) throws IOException {
    assertRefused(model(name), Goal.CONVERT, true, "RMSNorm already");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "gpt_neox", "opt"})
  void aConvertedModelIsNotConvertedAgain(String name) throws IOException {
    TinyModel converted = rewriter.convert(model(name));
    Path in = rewriter.write(converted, 1);
    assertThatThrownBy(() -> rewriter.rewrite(in, Goal.CONVERT, true))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("RMSNorm already");
  }

  /** LayerNorms behind a branch, as rules of a user may tell of them. */
  @Test
  void sandwichNorms() throws IOException {
    String rules =
        """
        {"family": "Mine", "like": "GPT-NeoX", "norms": [
          {"name": "{prefix}layers.{layer}.input_layernorm",
            "consumers": ["{prefix}layers.{layer}.attention.query_key_value"]},
          {"name": "{prefix}layers.{layer}.post_attention_layernorm", "kept": "residual"},
          {"name": "{prefix}final_layer_norm", "consumers": ["{head}"]}],
          "others": ["{prefix}layers.{layer}.mlp.dense_h_to_4h",
            "{prefix}layers.{layer}.attention.bias", "{prefix}layers.{layer}.attention.masked_bias",
            "{prefix}layers.{layer}.attention.rotary_emb.inv_freq"]}
        """;
    TinyModel model = model("gpt_neox");
    Path in = rewriter.write(model, 1);
    assertThatThrownBy(() -> rewriter.rewriteBy(rules, in, Goal.CONVERT))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("post_attention_layernorm")
        .hasMessageContaining("residual stream");
    TinyModel folded = HuggingFaceFolder.read(rewriter.rewriteBy(rules, in, Goal.FOLD));
    for (String part : new String[] {"weight", "bias"}) {
      String kept = "gpt_neox.layers.1.post_attention_layernorm." + part;
      assertThat(folded.get(kept).elements()).isEqualTo(model.get(kept).elements());
    }
    assertThat(folded.get("gpt_neox.layers.1.input_layernorm.bias").elements()).containsOnly(0);
  }

  /** One matrix that takes the outputs of two norms can take the gain of neither. */
  @Test
  void aMatrixOfTwoNormsIsLeftAlone() throws IOException {
    String rules =
        """
        {"family": "Mine", "like": "Llama", "norms": [
          {"name": "{prefix}layers.{layer}.input_layernorm",
            "consumers": ["{prefix}layers.{layer}.self_attn.{q,k,v}_proj"]},
          {"name": "{prefix}layers.{layer}.post_attention_layernorm",
            "consumers": ["{prefix}layers.{layer}.mlp.{gate,up}_proj",
              "{prefix}layers.{layer}.self_attn.q_proj"]},
          {"name": "{prefix}norm", "consumers": ["{head}"]}]}
        """;
    TinyModel model = Layouts.ALL.get("llama").model(StoredType.F64, 14);
    Path in = rewriter.write(model, 1);
    TinyModel folded = HuggingFaceFolder.read(rewriter.rewriteBy(rules, in, Goal.FOLD));
    assertThat(Logits.distance(model, folded)).isLessThan(1e-12);
    for (String norm : new String[] {"input_layernorm", "post_attention_layernorm"}) {
      String kept = "model.layers.0." + norm + ".weight";
      assertThat(folded.get(kept).elements()).isEqualTo(model.get(kept).elements());
    }
    assertThat(folded.get("model.norm.weight").elements()).containsOnly(1);
  }

  /** A head for classes takes the last norm's output, and no rule tells of it. */
  @Test
  void headsThatAreNotKnown() throws IOException {
    Values score = new Values(StoredType.F32, List.of(2, 24), new double[48]);
    assertRefused(model("gpt2").with("score.weight", score), Goal.FOLD, true, "score.weight");
    assertRefused(model("gpt2").with("score.weight", score), Goal.CONVERT, true, "score.weight");
  }

  /**
   * Some programs mark a file by an empty tensor. Nothing can go into it; a scalar may be a scale.
   */
  @Test
  void anEmptyTensorIsNoReason() throws IOException {
    TinyModel model = model("llama");
    TinyModel marked =
        model
            .with("scaled_fp8", new Values(StoredType.U8, List.of(0), new double[0]))
            .with("model.mark", new Values(StoredType.F32, List.of(3, 0), new double[0]));
    TinyModel folded = rewriter.fold(marked);
    assertThat(folded.tensors().keySet()).containsExactlyElementsOf(marked.tensors().keySet());
    assertThat(Logits.distance(folded, rewriter.fold(model))).isZero();
    TinyModel converted =
        rewriter.convert(
            model("gpt2").with("mark", new Values(StoredType.F32, List.of(0), new double[0])));
    assertThat(Logits.distance(model("gpt2"), converted)).isLessThan(1e-5);
  }

  /** Matrices of integers; a folded norm before them would change the model. */
  @Test
  void quantisedMatrices() throws IOException {
    TinyModel gpt2 = model("gpt2-untied");
    String writer = "transformer.h.1.mlp.c_proj.weight";
    assertRefused(gpt2.with(writer, integers(gpt2.get(writer))), Goal.CONVERT, false, writer, "u8");
    // A matrix that only reads the stream keeps its norm's gain and bias, in both commands.
    TinyModel llama = model("llama");
    String reader = "model.layers.1.mlp.up_proj.weight";
    TinyModel folded = rewriter.fold(llama.with(reader, integers(llama.get(reader))));
    String norm = "model.layers.1.post_attention_layernorm.weight";
    assertThat(folded.get(norm).elements()).isEqualTo(llama.get(norm).elements());
    assertThat(folded.get("model.layers.1.mlp.gate_proj.weight").elements())
        .isEqualTo(llama.get("model.layers.1.mlp.gate_proj.weight").elements());
    assertThat(folded.get("model.layers.0.post_attention_layernorm.weight").elements())
        .containsOnly(1);
  }

  private static Values integers(Values values) {
    double[] elements = new double[values.elements().length];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = i % 251;
    }
    return new Values(StoredType.U8, values.shape(), elements);
  }

  /** The names that GPTQ gives: the matrix is in several tensors that no rule covers. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void quantisedUnderOtherNames(boolean untie) throws IOException {
    String matrix = "model.layers.0.self_attn.q_proj.";
    TinyModel llama = model("llama").without(matrix + "weight");
    Values packed = new Values(StoredType.U8, List.of(3, 24), new double[72]);
    assertRefused(
        llama.with(matrix + "qweight", packed), Goal.FOLD, untie, "qweight", "do not cover");
  }

  @Test
  void ggufFilesAreOnlyRead() throws IOException {
    Path file = folder.resolve("in.gguf");
    Files.write(file, "GGUF\3\0\0\0".getBytes(StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> rewriter.rewrite(file, Goal.FOLD, false))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("GGUF is only read");
  }

  @Test
  void unknownFamilies() throws IOException {
    Path in = rewriter.write(model("llama").with("model_type", "falcon"), 1);
    assertThatThrownBy(() -> rewriter.rewrite(in, Goal.FOLD, false))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("falcon")
        .hasMessageContaining("--map");
  }

  @Test
  void aProductThatTheTypeDoesNotHold() throws IOException {
    TinyModel model = Layouts.ALL.get("llama").model(StoredType.F16, 13);
    String norm = "model.layers.2.input_layernorm.weight";
    double[] gain = model.get(norm).elements().clone();
    Arrays.fill(gain, 60_000);
    String matrix = "model.layers.2.self_attn.k_proj.weight";
    double[] elements = model.get(matrix).elements().clone();
    elements[7] = 2;
    TinyModel large =
        model.with(norm, model.get(norm).with(gain)).with(matrix, model.get(matrix).with(elements));
    Path in = rewriter.write(large, 1);
    assertThatThrownBy(() -> rewriter.rewrite(in, Goal.FOLD, false))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(matrix);
  }
}
