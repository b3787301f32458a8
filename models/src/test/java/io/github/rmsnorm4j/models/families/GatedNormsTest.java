package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Families with gated norms: which norm is where, and that a gain is folded only where the output
 * stays the same.
 */
class GatedNormsTest extends WithRewriter {
  private static final Map<String, Supplier<Layout>> LAYOUTS =
      Map.of(
          "qwen3_next", GatedLayouts::qwen3Next,
          "qwen3_5", GatedLayouts::qwen35,
          "qwen3_5_moe", GatedLayouts::qwen35Experts,
          "kimi_linear", GatedLayouts::kimiLinear,
          "mamba2", GatedLayouts::mamba2,
          "nemotron_h", GatedLayouts::nemotronH);

  static Stream<String> layouts() {
    return LAYOUTS.keySet().stream().sorted();
  }

  private static TinyModel model(String name) {
    return LAYOUTS.get(name).get().model(StoredType.F64, 31);
  }

  private ModelNorms norms(TinyModel model) throws IOException {
    try (StoredModel stored = StoredModel.open(rewriter.write(model, 1))) {
      return Inspection.of(stored, Optional.empty()).model();
    }
  }

  /** The norms without repetition, as {@code name: width spec} and what becomes of the gain. */
  private String summary(String name) throws IOException {
    ModelNorms norms = norms(model(name));
    assertThat(norms.unknown()).isEmpty();
    assertThat(norms.notConverted()).contains("it has RMSNorm already");
    return norms.norms().stream()
        .map(
            site ->
                "%s: %s%s %s%s"
                    .formatted(
                        site.name().replaceFirst(".*layers\\.\\d+\\.", ""),
                        site.heads() ? "head of " : "",
                        site.width(),
                        site.spec(),
                        site.keptBecause().isPresent() ? ", kept" : ""))
        .distinct()
        .collect(Collectors.joining("\n"));
  }

  /** Only the gated norm of Qwen stores g; the others store g - 1. */
  @Test
  void theNormsOfQwen() throws IOException {
    String expected =
        """
        input_layernorm: 24 gemma(eps=0.001)
        linear_attn.norm: head of 4 llama(eps=0.001, gate=silu)
        post_attention_layernorm: 24 gemma(eps=0.001)
        self_attn.q_norm: head of 6 gemma(eps=0.001), kept
        self_attn.k_norm: head of 6 gemma(eps=0.001), kept
        model.norm: 24 gemma(eps=0.001), kept""";
    assertThat(summary("qwen3_next")).isEqualTo(expected);
    assertThat(summary("qwen3_5"))
        .isEqualTo(expected.replace("model.norm", "model.language_model.norm"));
    assertThat(summary("qwen3_5_moe"))
        .isEqualTo(
            expected.replace(
                "post_attention_layernorm: 24 gemma(eps=0.001)",
                "post_attention_layernorm: 24 gemma(eps=0.001), kept"));
  }

  @Test
  void theNormsOfKimiLinear() throws IOException {
    assertThat(summary("kimi_linear"))
        .isEqualTo(
            """
            input_layernorm: 24 llama(eps=0.001)
            self_attn.o_norm: head of 4 rmsnorm(eps=0.001, gate=sigmoid)
            post_attention_layernorm: 24 llama(eps=0.001)
            self_attn.kv_a_layernorm: 8 llama
            model.norm: 24 llama(eps=0.001)""");
  }

  @Test
  void theNormsOfMixers() throws IOException {
    assertThat(summary("mamba2"))
        .isEqualTo(
            """
            norm: 24 llama(eps=0.001)
            mixer.norm: 12 rmsnorm(eps=0.001, gate=silu before, groupcount=2)
            backbone.norm_f: 24 llama(eps=0.001)""");
    assertThat(summary("nemotron_h"))
        .isEqualTo(
            """
            norm: 24 rmsnorm(eps=0.001), kept
            mixer.norm: 12 rmsnorm(eps=0.001, gate=silu before, groupcount=3)
            backbone.norm_f: 24 rmsnorm(eps=0.001), kept""");
  }

  /** A number of groups is never guessed. */
  @Test
  void groupsThatAreNotSetOrDoNotFitAreRefused() throws IOException {
    TinyModel model = model("mamba2");
    refused(model.with("n_groups", 5), "groupCount is 5, it must divide the width, 12");
    refused(
        model.with("n_groups", 0), "n_groups is 0, it must be a whole number from 1 to 16777216");
    Map<String, Object> config = new LinkedHashMap<>(model.config());
    config.remove("n_groups");
    refused(new TinyModel(config, model.tensors()), "lacks n_groups");
  }

  private void refused(TinyModel model, String problem) {
    assertThatThrownBy(() -> norms(model))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(problem)
        .message()
        .hasLineCount(1);
  }

  /** Where programs round otherwise, or take another epsilon, that is said. */
  @ParameterizedTest
  @MethodSource("layouts")
  void whatAModelDoesNotTellIsNoted(String name) throws IOException {
    assertThat(norms(model(name)).norms())
        .anyMatch(site -> site.note().isPresent())
        .filteredOn(site -> site.spec().gate() == Gate.SIGMOID)
        .allMatch(site -> site.note().isEmpty());
  }

  /**
   * Each matrix of the result gives the same for the output of its norm, and a folded gain is 1.
   * The result is wrong if one head or group of the matrix is left out.
   */
  @ParameterizedTest
  @MethodSource("layouts")
  void foldedMatricesGiveTheSame(String name) throws IOException {
    TinyModel model = model(name);
    TinyModel folded = rewriter.fold(model);
    int gated = 0;
    for (NormSite site : norms(model).norms()) {
      String gain = site.gain().orElseThrow();
      boolean kept = site.keptBecause().isPresent();
      double plain = 1 - site.spec().gainOffset();
      if (kept) {
        assertThat(folded.get(gain).elements()).isEqualTo(model.get(gain).elements());
      } else {
        assertThat(folded.get(gain).elements()).as(gain).containsOnly(plain);
      }
      boolean isGated = site.spec().gate() != Gate.NONE;
      assertThat(isGated && kept).isFalse();
      gated += isGated ? 1 : 0;
      for (String matrix : site.consumers().stream().map(consumer -> consumer.weight()).toList()) {
        double[] before = output(model, site, matrix);
        assertThat(output(folded, site, matrix)).as(matrix).containsExactly(before, within(1e-12));
        if (isGated) {
          Values weight = folded.get(matrix);
          int last = weight.columns() - site.width() / site.spec().groups().count(site.width());
          Values part = weight.with(kept(weight, model.get(matrix), last));
          assertThat(distance(before, output(folded.with(matrix, part), site, matrix)))
              .isGreaterThan(1e-3);
        }
      }
    }
    assertThat(gated).isPositive();
  }

  /** The elements of a matrix with the columns from some on as they were. */
  private static double[] kept(Values folded, Values original, int from) {
    double[] elements = folded.elements().clone();
    for (int i = 0; i < elements.length; i++) {
      elements[i] = i % folded.columns() >= from ? original.elements()[i] : elements[i];
    }
    return elements;
  }

  private static double distance(double[] a, double[] b) {
    double largest = 0;
    for (int i = 0; i < a.length; i++) {
      largest = Math.max(largest, Math.abs(a[i] - b[i]));
    }
    return largest;
  }

  /** W of the norm's output for a random row and gate; a row of several heads if W takes these. */
  private static double[] output(TinyModel model, NormSite site, String matrix) {
    Values w = model.get(matrix);
    NormSpec spec = site.spec();
    Random random = new Random(7);
    double[] x = random.doubles(w.columns(), -2, 3).toArray();
    double[] z = random.doubles(w.columns(), -2, 2).toArray();
    double[] gain = model.get(site.gain().orElseThrow()).elements();
    int size = site.width() / Math.max(1, spec.groups().count());
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      x[i] *= spec.gate() == Gate.SILU_BEFORE ? z[i] / (1 + Math.exp(-z[i])) : 1;
    }
    for (int i = 0; i < x.length; i++) {
      double[] piece = Arrays.copyOfRange(x, i / size * size, i / size * size + size);
      double m = Arrays.stream(piece).map(v -> v * v).average().orElseThrow();
      double sigmoid = 1 / (1 + Math.exp(-z[i]));
      double gate =
          switch (spec.gate()) {
            case SILU -> z[i] * sigmoid;
            case SIGMOID -> sigmoid;
            default -> 1;
          };
      double g = gain[i % gain.length] + spec.gainOffset();
      y[i] = x[i] / Math.sqrt(m + spec.epsilon().orElseThrow()) * g * gate;
    }
    double[] output = new double[w.rows()];
    for (int row = 0; row < output.length; row++) {
      for (int i = 0; i < y.length; i++) {
        output[row] += w.at(row, i) * y[i];
      }
    }
    return output;
  }

  /** In 16 bits each product is rounded once, for heads as for rows. */
  @Test
  void productsAreRoundedOnce() throws IOException {
    TinyModel narrow = GatedLayouts.kimiLinear().model(StoredType.BF16, 32);
    TinyModel wide = rewriter.fold(narrow.withFloats(StoredType.F64));
    TinyModel folded = rewriter.fold(narrow);
    wide.tensors()
        .forEach(
            (tensor, values) ->
                assertThat(folded.get(tensor).elements())
                    .as(tensor)
                    .isEqualTo(
                        Arrays.stream(values.elements()).map(StoredType.BF16::round).toArray()));
  }

  /** A matrix whose input is no whole number of heads. */
  @Test
  void headsThatDoNotFit() {
    TinyModel model = model("qwen3_next");
    String matrix = "model.layers.0.linear_attn.out_proj.weight";
    Values odd = new Values(StoredType.F64, List.of(24, 10), new double[240]);
    refused(model.with(matrix, odd), "its norm has 4 elements");
  }

  private static String rules(String norm, String mlp) {
    return """
        {"family": "Mine", "like": "GPT-NeoX", "norms": [
          {"name": "{prefix}layers.{layer}.input_layernorm",
            "consumers": ["{prefix}layers.{layer}.attention.query_key_value"]},
          {"name": "{prefix}layers.{layer}.post_attention_layernorm", "norm": "%s",
            "consumers": ["{prefix}layers.{layer}.mlp.%s"]},
          {"name": "{prefix}final_layer_norm", "consumers": ["{head}"]}]}
        """
        .formatted(norm, mlp);
  }

  /** (n g + b) silu(z): the gate multiplies the bias, which no bias behind it can take. */
  @Test
  void aBiasBeforeAGateStays() throws IOException {
    TinyModel model = Layouts.ALL.get("gpt_neox").model(StoredType.F64, 33);
    Path in = rewriter.write(model, 1);
    String gated = rules("layernorm(gate=silu)", "dense_h_to_4h");
    TinyModel folded = HuggingFaceFolder.read(rewriter.rewriteBy(gated, in, Goal.FOLD));
    for (String part : new String[] {"weight", "bias"}) {
      String kept = "gpt_neox.layers.1.post_attention_layernorm." + part;
      assertThat(folded.get(kept).elements()).isEqualTo(model.get(kept).elements());
    }
    assertThat(folded.get("gpt_neox.layers.1.input_layernorm.bias").elements()).containsOnly(0);
  }

  /** What has no mean in whole rows keeps none: these norms are not converted. */
  @Test
  void normsThatDoNotReadWholeRowsAreNotConverted() throws IOException {
    Path in = rewriter.write(Layouts.ALL.get("gpt_neox").model(StoredType.F64, 34), 1);
    for (String norm :
        List.of("layernorm(gate=silu)", "layernorm(groupcount=2)", "l2", "rmsnorm")) {
      assertThatThrownBy(() -> rewriter.rewriteBy(rules(norm, "dense_h_to_4h"), in, Goal.CONVERT))
          .as(norm)
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("post_attention_layernorm");
    }
  }
}
