package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.GradientCase.Result;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * Gradients, the library's and those of {@code reference}, against central differences of the
 * forward definitions of {@code reference}, in float64. No difference is of the library's own.
 */
class GradientTest {
  private static final int CASES = 1500;
  private static final double ALLOWED = 1e-7;

  /** Of fourth order, so that neither the step nor rounding shows. */
  private static final double STEP = 2e-4;

  @Test
  void everyChoiceAgainstCentralDifferences() {
    for (long seed = 0; seed < CASES; seed++) {
      GradientCase drawn = new GradientCase(seed);
      String what = "seed " + seed + ": " + drawn;
      Result differences = differences(drawn);
      agree(what + ", reference", drawn.reference(), differences);
      agree(what, drawn.library(), differences);
    }
  }

  private static Result differences(GradientCase drawn) {
    double[][] dx = new double[drawn.x.length][];
    double[][] dz = drawn.z == null ? null : new double[drawn.x.length][];
    for (int r = 0; r < dx.length; r++) {
      int row = r;
      double[] gates = drawn.z == null ? null : drawn.z[r];
      dx[r] = differences(drawn.x[r], x -> drawn.loss(row, x, gates, drawn.gain, drawn.bias));
      if (dz != null) {
        dz[r] = differences(gates, z -> drawn.loss(row, drawn.x[row], z, drawn.gain, drawn.bias));
      }
    }
    double[] gain =
        drawn.gain == null ? constant(drawn.parameters, 1 - drawn.is.gainOffset()) : drawn.gain;
    double[] bias = drawn.bias == null ? new double[drawn.parameters] : drawn.bias;
    double[] dgain = differences(gain, g -> loss(drawn, g, drawn.bias));
    if (drawn.is.order() != CastOrder.FLOAT32) {
      return new Result(dx, dz, dgain, drawn.reference().dbias()); // Their formulas have no bias.
    }
    return new Result(dx, dz, dgain, differences(bias, b -> loss(drawn, drawn.gain, b)));
  }

  private static double[] constant(int n, double value) {
    double[] values = new double[n];
    Arrays.fill(values, value);
    return values;
  }

  private static double loss(GradientCase drawn, double[] gain, double[] bias) {
    double sum = 0;
    for (int r = 0; r < drawn.x.length; r++) {
      sum += drawn.loss(r, drawn.x[r], drawn.z == null ? null : drawn.z[r], gain, bias);
    }
    return sum;
  }

  private static double[] differences(double[] at, ToDoubleFunction<double[]> loss) {
    double[] slopes = new double[at.length];
    double[] point = at.clone();
    double[] values = new double[5];
    for (int i = 0; i < at.length; i++) {
      for (int k = -2; k <= 2; k++) {
        point[i] = at[i] + k * STEP;
        values[k + 2] = k == 0 ? 0 : loss.applyAsDouble(point);
      }
      point[i] = at[i];
      slopes[i] = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * STEP);
    }
    return slopes;
  }

  private static void agree(String what, Result is, Result differences) {
    for (int r = 0; r < is.dx().length; r++) {
      agree(what + ": dx of row " + r, is.dx()[r], differences.dx()[r]);
      if (is.dz() != null) {
        agree(what + ": dz of row " + r, is.dz()[r], differences.dz()[r]);
      }
    }
    agree(what + ": dgain", is.dgain(), differences.dgain());
    agree(what + ": dbias", is.dbias(), differences.dbias());
  }

  /** In proportion to the largest of the row. */
  private static void agree(String what, double[] gradient, double[] differences) {
    double largest = Arrays.stream(gradient).map(Math::abs).max().orElseThrow();
    for (int i = 0; i < gradient.length; i++) {
      assertThat(Math.abs(gradient[i] - differences[i]))
          .as("%s, element %d: %s, differences give %s", what, i, gradient[i], differences[i])
          .isLessThanOrEqualTo(ALLOWED * largest);
    }
  }
}
