package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The logits of whole models, which depend on no rule of a family. */
class LogitsProofTest {
  @TempDir private Path folder;

  private Rewriting.Result proof(Path in, Optional<Path> map, Goal goal) throws IOException {
    Path out = folder.resolve("out");
    try (Rewriting rewriting = Rewriting.open(in, new Wish(goal, map, true, true))) {
      Rewriting.Result result = rewriting.write(out, true, _ -> {});
      assertThat(Files.exists(out)).isEqualTo(result.difference().isEmpty());
      return result;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F64", "F32", "F16", "BF16"})
  void theBoundIsThatOfRoundings(Dtype dtype) throws IOException {
    Path in = TestModel.gpt2(32).write(folder.resolve("in"), dtype, 2);
    LogitsProof whole = proof(in, Optional.empty(), Goal.CONVERT).whole().orElseThrow();
    assertThat(whole.tokens()).as("the model has 12 positions").isEqualTo(12);
    assertThat(whole.difference()).isPositive();
    double unit =
        Math.max(
            dtype.elementType().orElseThrow().unitRoundoff(), ElementType.FLOAT32.unitRoundoff());
    assertThat(whole.roundings())
        .isBetween(0.01 * whole.largest() * unit, 100 * whole.largest() * unit);
    assertThat(whole.holds()).isTrue();
  }

  /** Rules that forget a consumer: what they name is equal, the model is not. */
  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"F32", "BF16"})
  void wrongRulesAreCaught(Dtype dtype) throws IOException {
    Path map =
        Files.writeString(
            folder.resolve("map.json"),
            """
            {"family": "Forgetful", "like": "Llama", "norms": [
              {"name": "model.layers.{layer}.input_layernorm", "consumers": ["model.layers.{layer}.self_attn.{q,k}_proj"]},
              {"name": "model.layers.{layer}.post_attention_layernorm", "consumers": ["model.layers.{layer}.mlp.{gate,up}_proj"]},
              {"name": "model.norm", "consumers": ["{head}"]}],
              "others": ["model.layers.{layer}.self_attn.v_proj"]}
            """);
    Path in = TestModel.llama("llama", false).write(folder.resolve("in"), dtype, 1);
    Rewriting.Result proof = proof(in, Optional.of(map), Goal.FOLD);
    assertThat(proof.findings()).allMatch(Compared::holds);
    LogitsProof whole = proof.whole().orElseThrow();
    assertThat(whole.difference()).isGreaterThan(2 * LogitsProof.ALLOWED * whole.roundings());
    assertThat(proof.difference()).contains("logits");
  }

  @Test
  void aModelThatCannotBeRunIsProvenByPlacesAlone() throws IOException {
    Path in = TestModel.llama("gemma", true).write(folder.resolve("in"), Dtype.F32, 1);
    Rewriting.Result proof = proof(in, Optional.empty(), Goal.FOLD);
    assertThat(proof.whole()).isEmpty();
    assertThat(proof.notRun()).startsWith(in.resolve("config.json") + ": ");
    assertThat(proof.difference()).isEmpty();
  }

  /** Of a model whose own logits are NaN nothing can be said. */
  @Test
  void aModelWithoutFiniteLogitsIsProvenByPlacesAlone() throws IOException {
    TestModel model = TestModel.llama("llama", false);
    double[] head = model.values("lm_head.weight");
    Arrays.fill(head, 3e38);
    Path in = model.write(folder.resolve("in"), Dtype.F32, 1);
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), false, true))) {
      // The head would overflow.
      rewriting.plan.edits.keySet().removeIf(n -> n.matches("lm_head.weight|model.norm.weight"));
      Rewriting.Result proof = rewriting.write(folder.resolve("out"), true, _ -> {});
      assertThat(proof.whole()).isEmpty();
      assertThat(proof.notRun()).isEqualTo("its own logits are not finite");
      assertThat(proof.difference()).isEmpty();
    }
  }

  @Test
  void aResultWithoutFiniteLogitsIsRefused() throws IOException {
    Path in = TestModel.llama("llama", false).write(folder.resolve("in"), Dtype.F32, 1);
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), false, true))) {
      String head = "lm_head.weight";
      rewriting.plan.edits.put(head, new Edit(head, List.of(new Edit.Fill(3e38))));
      Rewriting.Result proof = rewriting.write(folder.resolve("out"), true, _ -> {});
      assertThat(proof.whole().orElseThrow().difference()).isNaN();
      assertThat(proof.whole().orElseThrow().holds()).isFalse();
      assertThat(proof.difference()).isPresent();
    }
  }
}
