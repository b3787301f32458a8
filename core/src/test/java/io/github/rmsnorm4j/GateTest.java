package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The texts of norms with a gate, what their calls refuse, and which memory they may share. */
class GateTest {
  private static final int N = 37;
  private static final double EPSILON = 1e-3;

  private final SplittableRandom random = new SplittableRandom(3);
  private final double[] x = drawn();
  private final double[] z = drawn();
  private final double[] gain = drawn();
  private final double[] bias = drawn();

  private double[] drawn() {
    return random.doubles(N, -2, 2).toArray();
  }

  private Norm norm(Gate gate, boolean centred) {
    NormSpec spec = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    return spec.withEpsilon(EPSILON).withGate(gate).builder(N).gain(gain).bias(bias).build();
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
    refused(
        () -> gated.apply(Rows.of(a, N), Rows.of(b, N), saved),
        "gate is silu before, this call has no z");
    refused(
        () -> gated.addAndApply(a, b, c),
        "gate is silu before, a call with a residual needs a norm without a gate");
    refused(
        () -> gated.withParameters(Rows.of(new float[N], N), null).apply(a, c),
        "gate is silu before, this call has no z and needs a norm without a gate: call applyGated");
    refused(() -> plain.applyGated(Rows.of(a, N), Rows.of(b, N), Rows.of(c, N)), "gate is none");
    refused(
        () ->
            gated.applyGated(
                Rows.of(a, N), Rows.of(b, N), Rows.of(c, N), new Saved(Keep.OUTPUT, 2)),
        "saved keeps the output");
    gated.applyGated(Rows.of(a, N), Rows.of(b, N), Rows.of(c, N), saved);
    refused(
        () -> gated.backward(Rows.of(c, N), saved, Rows.of(c, N), null),
        "gate is silu before, this call has no z");
    refused(
        () -> plain.backwardGated(Rows.of(c, N), saved, Rows.of(c, N), Rows.of(a, N), null),
        "gate is none");
    refused(() -> LayerNorm.builder(N).gate(Gate.SILU_BEFORE), "gate is silu before, a LayerNorm");
    refused(() -> NormSpec.parse("rmsnorm(gate=gelu)"), "gate may be none, silu, sigmoid");
  }

  private static void refused(Runnable call, String message) {
    assertThatThrownBy(call::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("\n");
  }
}
