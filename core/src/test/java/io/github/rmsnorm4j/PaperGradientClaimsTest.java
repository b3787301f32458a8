package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The paper's claims about gradients (section 3.2): for {@code a = W x} and {@code v = RMSNorm(a)},
 * the gradient of W is invariant to the scale of x and inversely proportional to that of W; that of
 * the gain is invariant to both.
 */
class PaperGradientClaimsTest {
  private static final int ROWS = 16;
  private static final int INPUTS = 5;
  private static final int NEURONS = 8;

  private final SplittableRandom random = new SplittableRandom(7);
  private final double[] inputs = random.doubles(ROWS * INPUTS, -1, 1).toArray();
  private final double[] weights = random.doubles(NEURONS * INPUTS, -1, 1).toArray();
  private final double[] dv = random.doubles(ROWS * NEURONS, -1, 1).toArray();
  private final double[] gain = random.doubles(NEURONS, 0.5, 2).toArray();

  /** The gradients of one weight matrix and of the gain. */
  private record Gradients(double[] weights, double[] gain) {}

  /** {@code part} of the neurons make the statistic: 8 is RMSNorm, fewer are pRMSNorm. */
  @ParameterizedTest
  @CsvSource({"8, 3", "8, 0.01", "2, 3", "2, 0.01"})
  void weightGradientGoesByTheWeightsScaleAlone(int part, double scale) {
    Gradients plain = gradients(part, 1, 1);
    Gradients inputScaled = gradients(part, scale, 1);
    Gradients weightScaled = gradients(part, 1, scale);
    for (int i = 0; i < plain.weights.length; i++) {
      near(inputScaled.weights[i], plain.weights[i]);
      near(weightScaled.weights[i] * scale, plain.weights[i]);
    }
    for (int i = 0; i < NEURONS; i++) {
      near(inputScaled.gain[i], plain.gain[i]);
      near(weightScaled.gain[i], plain.gain[i]);
    }
  }

  private static void near(double value, double expected) {
    assertThat(Math.abs(value - expected)).isLessThan(1e-12 * Math.max(1, Math.abs(expected)));
  }

  private Gradients gradients(int part, double inputScale, double weightScale) {
    double[] a = new double[ROWS * NEURONS];
    for (int r = 0; r < ROWS; r++) {
      for (int j = 0; j < NEURONS; j++) {
        for (int i = 0; i < INPUTS; i++) {
          a[r * NEURONS + j] +=
              weightScale * weights[j * INPUTS + i] * inputScale * inputs[r * INPUTS + i];
        }
      }
    }
    RmsNorm norm = RmsNorm.builder(NEURONS).epsilon(0).gain(gain).part(part).build();
    Saved saved = new Saved(Keep.INPUT, ROWS);
    Rows v = Rows.of(new double[a.length], NEURONS);
    norm.apply(Rows.of(a, NEURONS), v, saved);
    double[] da = new double[a.length];
    double[] dgain = new double[NEURONS];
    ParameterGradients gradients = ParameterGradients.assigned(dgain, null);
    norm.backward(Rows.of(dv, NEURONS), saved, Rows.of(da, NEURONS), gradients);
    double[] dw = new double[weights.length];
    for (int r = 0; r < ROWS; r++) {
      for (int j = 0; j < NEURONS; j++) {
        for (int i = 0; i < INPUTS; i++) {
          dw[j * INPUTS + i] += da[r * NEURONS + j] * inputScale * inputs[r * INPUTS + i];
        }
      }
    }
    return new Gradients(dw, dgain);
  }
}
