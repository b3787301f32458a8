package io.github.rmsnorm4j.models.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Loss and gradients against a float64 model in plain loops, differentiated by differences. The
 * products are rounded once, so that the layers are judged and not the order of a product's sum.
 */
class ModelGradientTest {
  private static final long SEED = 20_261_121;

  /** A larger one has an error of its own above the bound. */
  private static final double STEP = 1e-5;

  private static final int PER_TENSOR = 25;

  private static final Arithmetic ARITHMETIC =
      new Arithmetic(ModelGradientTest::multiply, null, ElementType.FLOAT32);

  private static void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    MatrixProduct.requireFit(a, transposeA, b, transposeB, c);
    int inner = transposeA ? a.rows : a.columns;
    for (int i = 0; i < c.rows; i++) {
      for (int j = 0; j < c.columns; j++) {
        double sum = 0;
        for (int k = 0; k < inner; k++) {
          double x = transposeA ? Configs.element(a, k, i) : Configs.element(a, i, k);
          double y = transposeB ? Configs.element(b, j, k) : Configs.element(b, k, j);
          sum += x * y;
        }
        double kept = beta == 0 ? 0 : (double) beta * Configs.element(c, i, j);
        c.floats().set((long) i * c.stride + j, (float) (alpha * sum + kept));
      }
    }
  }

  static List<ModelConfig> configs() {
    return Configs.all();
  }

  @ParameterizedTest
  @MethodSource("configs")
  void lossAndEveryTensorsGradient(ModelConfig config) {
    int count = Configs.BATCH * Configs.SEQUENCE;
    int[] tokens = Configs.tokens(config, count, SEED);
    int[] targets = Configs.targets(config, count, SEED);
    try (Weights weights = Configs.weights(config, SEED);
        Model model = new Model(weights, Configs.BATCH, Configs.SEQUENCE, 1, ARITHMETIC)) {
      model.forward(tokens);
      double loss = model.loss(targets);
      model.backward();

      ReferenceModel reference = new ReferenceModel(weights, Configs.SEQUENCE);
      assertThat(loss).isCloseTo(reference.loss(tokens, targets), within(2e-6));
      for (Parameter parameter : weights.parameters()) {
        checkGradient(parameter, weights, reference, tokens, targets);
      }
    }
  }

  /** Of some elements, a tenth of the bound that a comparison of all of them has. */
  private static void checkGradient(
      Parameter parameter, Weights weights, ReferenceModel reference, int[] tokens, int[] targets) {
    Floats gradient = new Floats(weights.gradient(parameter));
    double largest = 0;
    for (int i = 0; i < parameter.elements(); i++) {
      largest = Math.max(largest, Math.abs(gradient.get(i)));
    }
    assertThat(largest).as(parameter.name()).isPositive();

    double[] tensor = reference.tensors.get(parameter.name());
    SeededRandom random = new SeededRandom(SEED, parameter.name().length());
    for (int j = 0; j < Math.min(PER_TENSOR, tensor.length); j++) {
      int i = tensor.length <= PER_TENSOR ? j : random.nextInt(tensor.length);
      double value = tensor[i];
      tensor[i] = value + STEP;
      double above = reference.loss(tokens, targets);
      tensor[i] = value - STEP;
      double below = reference.loss(tokens, targets);
      tensor[i] = value;
      assertThat((double) gradient.get(i))
          .as("%s[%d], seed %d", parameter.name(), i, SEED)
          .isCloseTo((above - below) / (2 * STEP), within(1e-5 * largest));
    }
  }
}
