package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A plan with one rule broken: the proof says so, and nothing is put in place. */
class LyingPlanTest {
  private static final String LAYER = "model.layers.1.";
  private static final String H = "transformer.h.1.";

  @TempDir private Path folder;

  /** A rule, broken in a plan. */
  private record Broken(String rule, Goal goal, TestModel model, Consumer<RewritingPlan> plan) {
    @Override
    public String toString() {
      return goal + " " + rule;
    }
  }

  private static Consumer<RewritingPlan> with(String tensor, Edit.Step... steps) {
    return plan ->
        plan.edits.compute(
            tensor, (_, old) -> new Edit(old == null ? tensor : old.source(), List.of(steps)));
  }

  private static Consumer<RewritingPlan> without(String tensor) {
    return plan -> assertThat(plan.edits.remove(tensor)).isNotNull();
  }

  private static Stream<Broken> broken() {
    return Stream.of(llama(), gemma(), gpt2(), converted()).flatMap(List::stream);
  }

  private static List<Broken> llama() {
    String gain = LAYER + "input_layernorm.weight";
    String q = LAYER + "self_attn.q_proj.weight";
    Map<String, Consumer<RewritingPlan>> rules = new LinkedHashMap<>();
    rules.put("each consumer takes the gain", without(LAYER + "self_attn.k_proj.weight"));
    rules.put("the gain becomes 1", without(gain));
    rules.put(
        "the gain goes in once",
        with(q, new Edit.ScaleInputs(gain, 0, false), new Edit.ScaleInputs(gain, 0, false)));
    rules.put("the gain scales inputs, not outputs", with(q, new Edit.ScaleInputs(gain, 0, true)));
    rules.put(
        "each norm's own gain",
        with(q, new Edit.ScaleInputs(LAYER + "post_attention_layernorm.weight", 0, false)));
    rules.put("the gain is stored as g", with(q, new Edit.ScaleInputs(gain, 1, false)));
    rules.put("o_proj takes no gain", with(LAYER + "self_attn.o_proj.weight", new Edit.Scale(1.1)));
    rules.put("RMSNorm is never centred", with("model.embed_tokens.weight", new Edit.Center(true)));
    rules.put("a tied head keeps the norm's gain", with("model.norm.weight", new Edit.Fill(1)));
    return all(Goal.FOLD, TestModel.llama("llama", true), rules);
  }

  private static List<Broken> gemma() {
    String gain = LAYER + "input_layernorm.weight";
    Map<String, Consumer<RewritingPlan>> rules = new LinkedHashMap<>();
    rules.put(
        "the 1 of g - 1 is added",
        with(LAYER + "self_attn.q_proj.weight", new Edit.ScaleInputs(gain, 0, false)));
    rules.put("a gain stored as g - 1 becomes 0", with(gain, new Edit.Fill(1)));
    return all(Goal.FOLD, TestModel.llama("gemma", true), rules);
  }

  private static List<Broken> gpt2() {
    String gain = H + "ln_1.weight";
    String beta = H + "ln_1.bias";
    String weight = H + "attn.c_attn.weight";
    TestModel model = TestModel.gpt2(TestModel.WIDTH);
    // What the bias would be multiplied by if the gain had been folded before.
    double[] late = model.values(beta).clone();
    for (int i = 0; i < late.length; i++) {
      late[i] *= model.values(gain)[i];
    }
    model.put("transformer.h.0.ln_1.bias", late, late.length);
    Map<String, Consumer<RewritingPlan>> rules = new LinkedHashMap<>();
    rules.put("the norm's bias is folded", without(H + "attn.c_attn.bias"));
    rules.put("the norm's bias becomes 0", without(beta));
    rules.put(
        "the norm's bias is folded before the gain",
        with(
            H + "attn.c_attn.bias",
            new Edit.AddProduct(
                new Projection(weight, true, Optional.empty()), "transformer.h.0.ln_1.bias")));
    rules.put("the matrix is stored (inputs, outputs)", without(weight));
    rules.put("the last norm's gain stays", with("transformer.ln_f.weight", new Edit.Fill(1)));
    rules.put("the last norm's bias stays", with("transformer.ln_f.bias", new Edit.Fill(0)));
    return all(Goal.FOLD, model, rules);
  }

  private static List<Broken> converted() {
    Map<String, Consumer<RewritingPlan>> rules = new LinkedHashMap<>();
    rules.put("token embeddings are centred", without("transformer.wte.weight"));
    rules.put("positions are centred", without("transformer.wpe.weight"));
    rules.put(
        "embeddings are centred by rows", with("transformer.wte.weight", new Edit.Center(false)));
    rules.put("attention's output is centred", without(H + "attn.c_proj.weight"));
    rules.put("attention's output bias is centred", without(H + "attn.c_proj.bias"));
    rules.put("the MLP's output is centred", without(H + "mlp.c_proj.weight"));
    rules.put("the MLP's output bias is centred", without(H + "mlp.c_proj.bias"));
    rules.put(
        "matrices are centred over outputs",
        with(H + "attn.c_proj.weight", new Edit.Center(false)));
    rules.put("the head is not centred", with("lm_head.weight", new Edit.Center(true)));
    rules.put("queries are not centred", with(H + "attn.c_attn.weight", new Edit.Center(true)));
    rules.put("the norms become RMSNorm", plan -> plan.modelType = Optional.empty());
    return all(Goal.CONVERT, TestModel.gpt2(TestModel.WIDTH), rules);
  }

  private static List<Broken> all(
      Goal goal, TestModel model, Map<String, Consumer<RewritingPlan>> rules) {
    List<Broken> broken = new ArrayList<>();
    rules.forEach((rule, plan) -> broken.add(new Broken(rule, goal, model, plan)));
    return broken;
  }

  private static Stream<Arguments> brokenInEachType() {
    return broken()
        .flatMap(
            rule ->
                Stream.of(Dtype.F64, Dtype.F32, Dtype.BF16)
                    .map(dtype -> Arguments.of(rule, dtype)));
  }

  @ParameterizedTest
  @MethodSource("brokenInEachType")
  void isCaught(Broken rule, Dtype dtype) throws IOException {
    Path in = rule.model.write(folder.resolve("in"), dtype, 1);
    Path out = folder.resolve("out");
    try (Rewriting rewriting =
        Rewriting.open(
            in, new Wish(rule.goal, Optional.empty(), rule.goal == Goal.CONVERT, true))) {
      rule.plan.accept(rewriting.plan);
      Rewriting.Result result = rewriting.write(out, true, _ -> {});
      assertThat(result.difference()).isPresent();
      assertThat(result.findings()).anyMatch(f -> f.largest() > 1.2);
    }
    assertThat(out).doesNotExist();
    assertThat(folder.resolve("out.partial")).doesNotExist();
  }

  /** Without a broken rule each of these holds. */
  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F64", "F32", "F16", "BF16"})
  void theRuleIsTheOnlyFault(Dtype dtype) throws IOException {
    for (Broken rule :
        List.of(
            llama().getFirst(), gemma().getFirst(), gpt2().getFirst(), converted().getFirst())) {
      Path in = rule.model.write(folder.resolve("in" + rule.hashCode()), dtype, 1);
      Path out = folder.resolve("out" + rule.hashCode());
      try (Rewriting rewriting =
          Rewriting.open(
              in, new Wish(rule.goal, Optional.empty(), rule.goal == Goal.CONVERT, true))) {
        Rewriting.Result result = rewriting.write(out, true, _ -> {});
        assertThat(result.difference()).isEmpty();
        assertThat(result.findings()).allMatch(Compared::holds);
      }
      assertThat(out).isDirectory();
      assertThat(out.resolveSibling(out.getFileName() + ".partial")).doesNotExist();
    }
  }

  /** A result whose norms have another epsilon, as some converters write it. */
  @Test
  void anotherEpsilonIsCaught() throws IOException {
    Path in = TestModel.gpt2(TestModel.WIDTH).write(folder.resolve("in"), Dtype.BF16, 1);
    try (StoredModel model = StoredModel.open(in)) {
      ModelNorms norms = model.norms(Optional.empty());
      List<NormSite> others = norms.norms().stream().map(LyingPlanTest::withOtherEpsilon).toList();
      ModelNorms other =
          new ModelNorms(
              norms.family(),
              others,
              norms.embeddings(),
              norms.writers(),
              norms.head(),
              norms.tied(),
              norms.ownHead(),
              norms.headScale(),
              norms.untiedSettings(),
              norms.convertedType(),
              norms.notConverted(),
              norms.unknown());
      MatrixProof.Side before = new MatrixProof.Side(norms, model.tensors(), _ -> {});
      MatrixProof.Side after = new MatrixProof.Side(other, model.tensors(), _ -> {});
      assertThat(new MatrixProof(before, before).findings(false, false)).allMatch(Compared::holds);
      assertThat(new MatrixProof(before, after).findings(false, false))
          .filteredOn(finding -> !finding.holds())
          .extracting(Compared::what)
          .containsExactly("norms, with their epsilon");
    }
  }

  @Test
  void otherTensorsAreCaught() throws IOException {
    Path model = TestModel.gpt2(TestModel.WIDTH).write(folder.resolve("in"), Dtype.F32, 1);
    Path narrow = TestModel.gpt2(TestModel.WIDTH).write(folder.resolve("bf16"), Dtype.BF16, 1);
    Path more =
        TestModel.gpt2(TestModel.WIDTH)
            .put("more", new double[1], 1)
            .write(folder.resolve("more"), Dtype.F32, 1);
    assertRefused(model, more, "the result has more f32 [1], the model has not");
    assertRefused(more, model, "the result lacks more f32 [1]");
    assertRefused(
        model, narrow, "the result has transformer.wte.weight bf16 [29, 16], the model has not");
  }

  private static void assertRefused(Path before, Path after, String message) throws IOException {
    try (StoredModel x = StoredModel.open(before);
        StoredModel y = StoredModel.open(after)) {
      MatrixProof.Side ofX = new MatrixProof.Side(x.norms(Optional.empty()), x.tensors(), _ -> {});
      MatrixProof.Side ofY = new MatrixProof.Side(y.norms(Optional.empty()), y.tensors(), _ -> {});
      assertThatThrownBy(() -> new MatrixProof(ofX, ofY).findings(false, false))
          .isInstanceOf(RefusedException.class)
          .hasMessage(message);
    }
  }

  private static NormSite withOtherEpsilon(NormSite site) {
    return new NormSite(
        site.name(),
        site.layer(),
        site.spec().withEpsilon(1e-6),
        site.width(),
        site.heads(),
        site.epsilonAssumed(),
        site.gain(),
        site.bias(),
        site.consumers(),
        site.keptBecause(),
        site.note(),
        site.beginnings());
  }
}
