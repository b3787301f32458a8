package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Norms with a gate against {@code reference}, in float64, and what their calls refuse. */
class GateTest {
  private static final int N = 37;
  private static final double STEP = 1e-5;
  private static final double EPSILON = 1e-3;

  private final SplittableRandom random = new SplittableRandom(3);
  private final double[] x = drawn();
  private final double[] z = drawn();
  private final double[] dy = drawn();
  private final double[] gain = drawn();
  private final double[] bias = drawn();

  private double[] drawn() {
    return random.doubles(N, -2, 2).toArray();
  }

  private Norm norm(Gate gate, boolean centred) {
    NormSpec spec = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    return spec.withEpsilon(EPSILON).withGate(gate).builder(N).gain(gain).bias(bias).build();
  }

  /** The output by its definition. */
  private static double[] defined(
      Gate gate, boolean centred, double[] x, double[] z, double[] gain, double[] bias) {
    double[] factors = Definitions.gate(z, gate);
    double[] in = gate.isAfter() ? x : product(x, factors);
    double[] y =
        centred
            ? Definitions.layerNorm(in, gain, bias, EPSILON)
            : Definitions.rmsNorm(in, gain, bias, EPSILON);
    return gate.isAfter() ? product(y, factors) : y;
  }

  private static double[] product(double[] a, double[] b) {
    double[] product = a.clone();
    Arrays.setAll(product, i -> a[i] * b[i]);
    return product;
  }

  @ParameterizedTest
  @CsvSource({"SILU,false", "SIGMOID,false", "SILU_BEFORE,false", "SILU,true", "SIGMOID,true"})
  void outputAndGradientsAreThoseOfTheDefinition(Gate gate, boolean centred) {
    Norm norm = norm(gate, centred);
    double[] y = new double[N];
    double[] dx = new double[N];
    double[] dz = new double[N];
    double[] dgain = new double[N];
    double[] dbias = new double[N];
    Saved saved = new Saved(Keep.INPUT, 1);
    norm.applyGated(Rows.of(x, N), Rows.of(z, N), Rows.of(y, N), saved);
    ParameterGradients sums = ParameterGradients.assigned(dgain, dbias);
    norm.backwardGated(Rows.of(dy, N), saved, Rows.of(dx, N), Rows.of(dz, N), sums);
    near(y, defined(gate, centred, x, z, gain, bias), 1e-13);
    near(dx, differences(x, v -> defined(gate, centred, v, z, gain, bias)), 1e-7);
    near(dz, differences(z, v -> defined(gate, centred, x, v, gain, bias)), 1e-7);
    near(dgain, differences(gain, v -> defined(gate, centred, x, z, v, bias)), 1e-7);
    near(dbias, differences(bias, v -> defined(gate, centred, x, z, gain, v)), 1e-7);
    double[] slopes = Gradients.gate(z, gate);
    for (int i = 0; i < N; i++) {
      double[] around = {z[i] - STEP, z[i] + STEP};
      double[] values = Definitions.gate(around, gate);
      assertThat(slopes[i]).isCloseTo((values[1] - values[0]) / (2 * STEP), within(1e-8));
    }
  }

  /** The gradient of the sum of y * dy, by central differences. */
  private double[] differences(double[] of, UnaryOperator<double[]> y) {
    double[] slopes = new double[N];
    for (int i = 0; i < N; i++) {
      double[] less = of.clone();
      double[] more = of.clone();
      less[i] -= STEP;
      more[i] += STEP;
      double[] difference = product(y.apply(more), dy);
      double[] below = product(y.apply(less), dy);
      for (int j = 0; j < N; j++) {
        slopes[i] += (difference[j] - below[j]) / (2 * STEP);
      }
    }
    return slopes;
  }

  private static void near(double[] actual, double[] wanted, double allowed) {
    for (int i = 0; i < N; i++) {
      assertThat(actual[i]).isCloseTo(wanted[i], within(allowed * (1 + Math.abs(wanted[i]))));
    }
  }

  @ParameterizedTest
  @EnumSource
  void textAndSpecAreInverse(Gate gate) {
    NormSpec spec = NormSpec.LLAMA.withGate(gate);
    assertThat(NormSpec.parse(spec.toString())).isEqualTo(spec);
    assertThat(spec.toString()).isEqualTo(gate == Gate.NONE ? "llama" : "llama(gate=" + gate + ")");
  }

  @Test
  void callsThatDoNotFitAreRefused() {
    float[] a = new float[2 * N];
    float[] b = new float[2 * N];
    float[] c = new float[2 * N];
    Norm gated = norm(Gate.SILU_BEFORE, false);
    Norm plain = norm(Gate.NONE, false);
    Saved saved = new Saved(Keep.INPUT, 2);
    refused(() -> gated.apply(a, b), "gate is silu before, this call has no z");
    refused(() -> gated.apply(a, b, saved), "gate is silu before, this call has no z");
    refused(() -> gated.addAndApply(a, b, c), "gate is silu before, this call has no z");
    refused(() -> plain.applyGated(a, b, c), "gate is none");
    refused(() -> gated.applyGated(a, new float[N], c), "z has 1 rows, x has 2");
    refused(() -> gated.applyGated(a, new float[N + 1], c), "z has 38 elements");
    Rows wide = Rows.of(new double[2 * N], N);
    refused(
        () -> gated.applyGated(Rows.of(a, N), wide, Rows.of(c, N)), "z is float64, x is float32");
    float[] longer = new float[3 * N];
    Rows shifted = Rows.of(longer, 1, 2, N);
    refused(
        () -> gated.applyGated(Rows.of(a, N), Rows.of(longer, 0, 2, N), shifted),
        "rows of y overlap rows of z");
    refused(() -> gated.applyGated(a, b, b, saved), "y is z, but the input is to be kept");
    refused(() -> gated.applyGated(a, b, c, new Saved(Keep.OUTPUT, 2)), "saved keeps the output");
    gated.applyGated(a, b, c, saved);
    refused(() -> gated.backward(c, saved, c, null), "gate is silu before, this call has no z");
    refused(() -> gated.backwardGated(c, saved, b, new float[2 * N], null), "overlaps x or z");
    refused(() -> gated.backwardGated(c, saved, c, c, null), "dx overlaps dz");
    refused(() -> plain.backwardGated(c, saved, c, a, null), "gate is none");
    refused(() -> LayerNorm.builder(N).gate(Gate.SILU_BEFORE), "gate is silu before, a LayerNorm");
    refused(() -> NormSpec.parse("rmsnorm(gate=gelu)"), "gate may be none, silu, sigmoid");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void theOutputMayReplaceXOrZ() {
    Norm norm = norm(Gate.SILU, false);
    float[] in = new float[N];
    float[] gates = new float[N];
    for (int i = 0; i < N; i++) {
      in[i] = (float) x[i];
      gates[i] = (float) z[i];
    }
    float[] y = new float[N];
    norm.applyGated(in, gates, y);
    float[] overX = in.clone();
    norm.applyGated(overX, gates, overX);
    float[] overZ = gates.clone();
    norm.applyGated(in, overZ, overZ);
    assertThat(overX).isEqualTo(y);
    assertThat(overZ).isEqualTo(y);
  }
}
