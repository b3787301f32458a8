package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Gain and bias with a row for each sample: formula, residual, and gradients that do not fit. */
class SamplesTest {
  /** What diffusion transformers compute: {@code norm(x) * (1 + s) + t}. */
  @Test
  void modulatedLayerNorm() {
    float[] x = {1, 3, 5, 7, 2, 2, 4, 4};
    float[] scale = {0, 1, -1, 0.5f};
    float[] shift = {10, 20, 30, 40};
    float[] y = new float[8];
    LayerNorm norm = LayerNorm.builder(2).epsilon(0).gainOffset(1).build();
    norm.withParameters(Rows.of(scale, 2), Rows.of(shift, 2)).apply(x, y);
    // Each row is -1 and 1, or 0 and 0 divided by 0; two rows for each row of scale and shift.
    assertThat(y).startsWith(9, 22, 9, 22).endsWith(Float.NaN, Float.NaN, Float.NaN, Float.NaN);
  }

  /** The call adds x, and then is a call of the sum with the same gain and bias. */
  @Test
  void aResidualIsAddedBefore() {
    Rows x = Rows.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2);
    Rows residual = Rows.of(new float[] {1, 1, 2, 2, 3, 3, 4, 4}, 2);
    Rows sum = Rows.of(new float[] {2, 3, 5, 6, 8, 9, 11, 12}, 2);
    Rows scale = Rows.of(new float[] {1, 2, 3, 4}, 2);
    Rows shift = Rows.of(new float[] {10, 20, 30, 40}, 2);
    float[] expected = new float[8];
    float[] y = new float[8];
    LayerNorm norm = LayerNorm.builder(2).gainOffset(1).build();
    norm.withParameters(scale, shift).apply(sum, Rows.of(expected, 2));
    norm.withParameters(scale, shift).addAndApply(x, residual, Rows.of(y, 2));
    assertThat(y).containsExactly(expected);
    assertThat(residual.segment().mismatch(sum.segment())).isEqualTo(-1);
    norm.withParameters(scale, null)
        .apply(Rows.of(new float[] {3, 5, 8, 10, 13, 15, 18, 20}, 2), Rows.of(expected, 2));
    norm.withParameters(scale, null).addAndApply(x, residual, x);
    assertThat((float[]) x.segment().heapBase().orElseThrow()).containsExactly(expected);
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatIllegalArgumentException().isThrownBy(call).withMessage(message);
  }

  @Test
  void refusesGradientsThatDoNotFit() {
    Rows x = Rows.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2);
    Rows y = Rows.of(new float[8], 2);
    RmsNorm norm = RmsNorm.builder(2).build();
    Saved saved = new Saved(Keep.INPUT, 4);
    norm.withParameters(Rows.of(new float[] {1, 2, 3, 4}, 2), null).apply(x, y, saved);
    refused(
        () -> norm.backward(y, saved, y, ParameterGradients.assigned(new float[2], null)),
        "dgain has 2 elements, it must have as many as the other parameters, 4");
    refused(
        () -> norm.backward(y, saved, y, ParameterGradients.assigned(new float[8], null)),
        "dgain has 8 elements, it must have as many as the other parameters, 4");
  }

  @Test
  void gradientsWithoutRowsAreZero() {
    Rows none = Rows.of(new float[0], 2);
    RmsNorm norm = RmsNorm.builder(2).build();
    Saved saved = new Saved(Keep.INPUT, 4);
    float[] dgain = {5, 5, 5, 5};
    norm.withParameters(Rows.of(new float[] {1, 2, 3, 4}, 2), null).apply(none, none, saved);
    norm.backward(none, saved, none, ParameterGradients.assigned(dgain, null));
    assertThat(dgain).containsOnly(0);
  }
}
