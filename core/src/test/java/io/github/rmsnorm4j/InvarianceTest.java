package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Table 1 of the RMSNorm paper: what may be done to the weights W and the data X of a layer a = W x
 * without a change of its normalised output, for LayerNorm, RMSNorm and pRMSNorm.
 */
class InvarianceTest {
  private static final int CASES = 16;
  private static final int INPUTS = 5;
  private static final int NEURONS = 8;
  private static final double DELTA = 2.7;

  /** The largest difference that rounding makes; and the least that counts as a real change. */
  private static final double SAME = 4e-15;

  private static final double DIFFERENT = 0.1;

  /** A layer's weights, a row per neuron, and its data, a row per case. */
  private record Layer(double[][] w, double[][] x) {
    static Layer drawn() {
      SplittableRandom random = new SplittableRandom(1);
      return new Layer(matrix(random, NEURONS), matrix(random, CASES));
    }

    private static double[][] matrix(SplittableRandom random, int rows) {
      double[][] matrix = new double[rows][];
      for (int r = 0; r < rows; r++) {
        matrix[r] = random.doubles(INPUTS, -1, 1).toArray();
      }
      return matrix;
    }

    /** The summed inputs, a row of neurons per case. */
    double[] summed() {
      double[] a = new double[CASES * NEURONS];
      for (int s = 0; s < CASES; s++) {
        for (int i = 0; i < NEURONS; i++) {
          for (int j = 0; j < INPUTS; j++) {
            a[s * NEURONS + i] += w[i][j] * x[s][j];
          }
        }
      }
      return a;
    }

    private static double[][] mapped(double[][] matrix, Function<double[], double[]> row) {
      double[][] result = new double[matrix.length][];
      for (int r = 0; r < matrix.length; r++) {
        result[r] = row.apply(matrix[r]);
      }
      return result;
    }

    private static double[] scaled(double[] row) {
      double[] result = row.clone();
      for (int j = 0; j < row.length; j++) {
        result[j] *= DELTA;
      }
      return result;
    }

    /** The same vector added, {@code W + 1 c^T} or {@code x + c}. */
    private static double[] shifted(double[] row) {
      double[] result = row.clone();
      for (int j = 0; j < row.length; j++) {
        result[j] += 1 + j;
      }
      return result;
    }

    private static double[][] oneScaled(double[][] matrix) {
      double[][] result = matrix.clone();
      result[0] = scaled(matrix[0]);
      return result;
    }

    Layer after(String change) {
      return switch (change) {
        case "W re-scaled" -> new Layer(mapped(w, Layer::scaled), x);
        case "W re-centred" -> new Layer(mapped(w, Layer::shifted), x);
        case "one weight vector re-scaled" -> new Layer(oneScaled(w), x);
        case "X re-scaled" -> new Layer(w, mapped(x, Layer::scaled));
        case "X re-centred" -> new Layer(w, mapped(x, Layer::shifted));
        case "one case re-scaled" -> new Layer(w, oneScaled(x));
        default -> throw new AssertionError(change);
      };
    }
  }

  @ParameterizedTest(name = "{0}: LayerNorm {1}, RMSNorm {2}, pRMSNorm {3}")
  @CsvSource({
    "W re-scaled, yes, yes, yes",
    "W re-centred, yes, no, no",
    "one weight vector re-scaled, no, no, no",
    "X re-scaled, yes, yes, yes",
    "X re-centred, no, no, no",
    "one case re-scaled, yes, yes, yes"
  })
  void table1(String change, String layer, String rms, String partial) {
    check(change, LayerNorm.builder(NEURONS).epsilon(0).build(), layer);
    check(change, RmsNorm.builder(NEURONS).epsilon(0).build(), rms);
    check(change, RmsNorm.builder(NEURONS).epsilon(0).partial(0.3).build(), partial);
  }

  private static void check(String change, Norm norm, String invariant) {
    double[] before = output(norm, Layer.drawn());
    double[] after = output(norm, Layer.drawn().after(change));
    double largest = 0;
    for (int i = 0; i < before.length; i++) {
      double size = Math.max(1, Math.abs(before[i]));
      largest = Math.max(largest, Math.abs(after[i] - before[i]) / size);
    }
    if (invariant.equals("yes")) {
      assertThat(largest).as("%s, %s", norm, change).isLessThan(SAME);
    } else {
      assertThat(largest).as("%s, %s", norm, change).isGreaterThan(DIFFERENT);
    }
  }

  private static double[] output(Norm norm, Layer layer) {
    double[] y = layer.summed();
    norm.apply(Rows.of(y, norm.width()), Rows.of(y, norm.width()));
    return y;
  }
}
