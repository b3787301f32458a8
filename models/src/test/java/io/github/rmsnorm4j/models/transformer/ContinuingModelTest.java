package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A token at a time, with keys and values kept, a model computes what it does in one pass. */
class ContinuingModelTest {
  private static final int T = 7;

  static List<ModelConfig> configs() {
    return Configs.all();
  }

  @ParameterizedTest
  @MethodSource("configs")
  void theBitsOfOnePassOverAll(ModelConfig config) {
    try (Weights weights = Configs.weights(config, 3)) {
      int[] tokens = Configs.tokens(config, T, 4);
      float[][] expected = inOnePass(weights, tokens, Arithmetic.PLAIN);
      assertThat(oneByOne(weights, tokens, Arithmetic.PLAIN)).isDeepEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({"FLOAT16, FLOAT32", "BFLOAT16, LLAMA", "BFLOAT16, ONNX"})
  void theBitsOfOnePassWithNarrowRows(ElementType type, CastOrder order) {
    Arithmetic narrow = Arithmetic.PLAIN.withNormRows(type);
    NormSpec norm = NormSpec.RMSNORM.withCastOrder(order);
    ModelConfig config =
        Configs.tiny(
            o -> {
              o.norm = norm;
              o.queryKeyNorm = true;
            });
    try (Weights weights = Configs.weights(config, 3)) {
      int[] tokens = Configs.tokens(config, T, 4);
      float[][] expected = inOnePass(weights, tokens, narrow);
      assertThat(oneByOne(weights, tokens, narrow)).isDeepEqualTo(expected);
      assertThat(inOnePass(weights, tokens, Arithmetic.PLAIN)[T - 1]).isNotEqualTo(expected[T - 1]);
    }
  }

  @ParameterizedTest
  @CsvSource({"FLOAT32, ONNX", "FLOAT16, FLOAT32", "BFLOAT16, LLAMA"})
  void theBackendOfTheNormsChangesNoBit(ElementType type, CastOrder order) {
    NormSpec norm = NormSpec.RMSNORM.withCastOrder(order);
    ModelConfig config =
        ModelConfig.of(
            11,
            64,
            2,
            4,
            o -> {
              o.norm = norm;
              o.initialRange = 0.3;
            });
    try (Weights weights = Configs.weights(config, 3)) {
      int[] tokens = Configs.tokens(config, T, 4);
      float[][] expected = oneByOne(weights, tokens, Arithmetic.PLAIN.withNormRows(type));
      for (Backend backend : List.of(Backend.best(), Backend.withoutMachineCode())) {
        Arithmetic other = new Arithmetic(MatrixProduct.PLAIN_JAVA, backend, type);
        assertThat(oneByOne(weights, tokens, other)).isDeepEqualTo(expected);
      }
    }
  }

  private static float[][] inOnePass(Weights weights, int[] tokens, Arithmetic arithmetic) {
    try (Model model = new Model(weights, 1, tokens.length, 1, arithmetic)) {
      model.forward(tokens);
      float[] all = model.logits().toArray(ValueLayout.JAVA_FLOAT);
      int vocabulary = weights.config().vocabulary();
      float[][] rows = new float[tokens.length][];
      for (int t = 0; t < rows.length; t++) {
        rows[t] = Arrays.copyOfRange(all, t * vocabulary, (t + 1) * vocabulary);
      }
      return rows;
    }
  }

  private static float[][] oneByOne(Weights weights, int[] tokens, Arithmetic arithmetic) {
    try (Model model = Model.continuing(weights, tokens.length, arithmetic)) {
      model.forward(new int[] {tokens[0]});
      model.restart(); // What there was before leaves nothing.
      float[][] rows = new float[tokens.length][];
      for (int t = 0; t < rows.length; t++) {
        assertThat(model.past()).isEqualTo(t);
        model.forward(new int[] {tokens[t]});
        rows[t] = model.logits().toArray(ValueLayout.JAVA_FLOAT);
      }
      return rows;
    }
  }

  @Test
  void theLossIsThatOfOnePass() {
    ModelConfig config = Configs.tiny();
    int[] tokens = Configs.tokens(config, T, 4);
    int[] targets = Configs.tokens(config, T, 5);
    try (Weights weights = Configs.weights(config, 3);
        Model whole = new Model(weights, 1, T, 1, Arithmetic.PLAIN);
        Model continuing = Model.continuing(weights, T, Arithmetic.PLAIN)) {
      whole.forward(tokens);
      double sum = 0;
      for (int t = 0; t < T; t++) {
        continuing.forward(new int[] {tokens[t]});
        sum += continuing.loss(new int[] {targets[t]});
      }
      assertThat(sum / T).isCloseTo(whole.loss(targets), within(1e-12));
    }
  }

  @Test
  void anObserverSeesOneRowAtATime() {
    ModelConfig config = Configs.tiny();
    List<Integer> depths = new ArrayList<>();
    try (Weights weights = Configs.weights(config, 3);
        Model model = Model.continuing(weights, T, Arithmetic.PLAIN)) {
      model.observe(
          new DepthObserver() {
            @Override
            public void forward(int depth, MemorySegment activations) {
              assertThat(activations.byteSize()).isEqualTo(12L * Float.BYTES);
              depths.add(depth);
            }

            @Override
            public void backward(int depth, MemorySegment gradients) {
              throw new AssertionError("there is no backward pass");
            }
          });
      model.forward(new int[] {1});
      model.forward(new int[] {2});
    }
    assertThat(depths).containsExactly(0, 1, 2, 0, 1, 2);
  }

  @Test
  void positionsEndAndNothingGoesBack() {
    ModelConfig config = Configs.tiny(o -> o.maxPositions = 2);
    try (Weights weights = Configs.weights(config, 3);
        Model model = Model.continuing(weights, 2, Arithmetic.PLAIN);
        Model narrow =
            new Model(weights, 1, 2, 1, Arithmetic.PLAIN.withNormRows(ElementType.BFLOAT16))) {
      model.forward(new int[] {1});
      model.loss(new int[] {2});
      assertThatThrownBy(model::backward).hasMessageEndingWith("has no backward pass");
      narrow.forward(new int[] {1, 2});
      narrow.loss(new int[] {2, 1});
      assertThatThrownBy(narrow::backward).hasMessageEndingWith("has no backward pass");
      model.forward(new int[] {1});
      assertThatThrownBy(() -> model.forward(new int[] {1}))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("all 2 positions are taken");
      assertThatThrownBy(() -> Model.continuing(weights, 3, Arithmetic.PLAIN))
          .hasMessage("sequence is 3, it must be between 1 and 2");
    }
    assertThatThrownBy(() -> Arithmetic.PLAIN.withNormRows(ElementType.FLOAT64))
        .hasMessage("normRows is float64, it may be float32, float16 or bfloat16");
    assertThatThrownBy(() -> Arithmetic.PLAIN.withNormRows(null))
        .hasMessage("product and normRows must not be null");
  }
}
