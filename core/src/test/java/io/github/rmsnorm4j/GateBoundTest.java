package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.Definitions;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No float32 result of a norm with a gate is farther from the exact one than docs/numerics.md. */
class GateBoundTest {
  private static final int[] WIDTHS = {1, 3, 31, 65, 300};

  /** Roundings of the activation and of a product with it. */
  private static final double OF_GATE = 7.01;

  private double worst;
  private String where = "";

  @ParameterizedTest
  @CsvSource({"SILU, false", "SILU, true", "SIGMOID, false", "SIGMOID, true", "SILU_BEFORE, false"})
  void isWithinTheBound(Gate gate, boolean centred) {
    for (double size : new double[] {1e-30, 1e-3, 1, 1e20, 1e36}) {
      for (double range : new double[] {0.01, 1, 8, 120}) {
        boolean small = gate == Gate.SILU_BEFORE && (size < 1e-3 || size > 1e30 || range > 100);
        for (int width : small ? new int[0] : WIDTHS) {
          see(gate, centred, width, size, range);
        }
      }
    }
    String what = gate + (centred ? ", LayerNorm" : ", RMSNorm");
    System.out.printf("%s: at worst %.3f of the bound (%s)%n", what, worst, where);
    assertThat(worst).as(where).isBetween(0.2, 1.0);
  }

  private void see(Gate gate, boolean centred, int width, double size, double range) {
    RandomRows source = new RandomRows(new SplittableRandom(width));
    double[] x = source.scaled(FLOAT32, width, size, 0);
    double[] z = source.scaled(FLOAT32, width, range, 0);
    Arrays.setAll(z, i -> Math.max(z[i], -87));
    double[] gain = source.scaled(FLOAT32, width, 2, 0);
    double[] bias = source.scaled(FLOAT32, width, 1, 0);
    String what = "width %d, size %g, range %g".formatted(width, size, range);
    see(gate, centred, x, z, null, null, what);
    see(gate, centred, x, z, gain, null, what + ", gain");
    see(gate, centred, x, z, gain, bias, what + ", gain and bias");
  }

  private void see(
      Gate gate,
      boolean centred,
      double[] x,
      double[] z,
      double[] gain,
      double[] bias,
      String what) {
    boolean after = gate.isAfter();
    double[] act = Definitions.gate(z, gate);
    double[] in = x.clone();
    Arrays.setAll(in, i -> after ? x[i] : x[i] * act[i]);
    double epsilon = 1e-5;
    Exact exact = new Exact(centred, in, epsilon, gain, bias);
    double[] y = run(gate, centred, epsilon, x, z, gain, bias);
    for (int i = 0; i < x.length; i++) {
      double g = gain == null ? 1 : gain[i];
      double b = bias == null ? 0 : bias[i];
      double of = after ? act[i] : 1;
      double parts = Math.abs(exact.d[i].multiply(exact.rstd).doubleValue() * g) + Math.abs(b);
      double more = (after ? 1 : 2) * OF_GATE * 0x1p-24 * parts;
      double ofNorm = ErrorBoundTest.bound(centred, FLOAT32, exact, in, i, g, b);
      double allowed = (ofNorm + more) * Math.abs(of) + 0x1p-149;
      BigDecimal wanted = exact.y[i].multiply(new BigDecimal(of));
      double error = wanted.subtract(new BigDecimal(y[i])).abs().doubleValue();
      if (!(error / allowed <= worst)) {
        worst = error / allowed;
        where = what + ", element " + i + ", z " + z[i];
      }
    }
  }

  private static double[] run(
      Gate gate,
      boolean centred,
      double epsilon,
      double[] x,
      double[] z,
      double[] gain,
      double[] bias) {
    NormSpec spec = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    NormBuilder<?> builder = spec.withEpsilon(epsilon).withGate(gate).builder(x.length);
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    float[] y = new float[x.length];
    Rows out = Rows.of(y, x.length);
    builder.build().applyGated(Rows.of(floats(x), x.length), Rows.of(floats(z), x.length), out);
    double[] wide = new double[y.length];
    Arrays.setAll(wide, i -> y[i]);
    return wide;
  }

  private static float[] floats(double[] row) {
    float[] floats = new float[row.length];
    for (int i = 0; i < row.length; i++) {
      floats[i] = (float) row[i];
    }
    return floats;
  }
}
