package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Every argument that is not allowed is refused by name, with its value. */
class NormArgumentsTest {
  private static final RmsNorm RMS = RmsNorm.builder(4).build();
  private static final LayerNorm LAYER = LayerNorm.builder(4).build();

  private static void refused(ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(parts)
        .hasMessageNotContaining("\n");
  }

  private static Rows rows(int rows, int width) {
    return Rows.of(new float[rows * width], width);
  }

  @Test
  void width() {
    refused(() -> RmsNorm.builder(0), "width is 0, it must be at least 1");
    refused(() -> LayerNorm.builder(-3), "width is -3, it must be at least 1");
  }

  @Test
  void epsilon() {
    double[] wrong = {
      -1e-6, -Double.MIN_VALUE, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY
    };
    for (double epsilon : wrong) {
      refused(
          () -> RmsNorm.builder(4).epsilon(epsilon),
          "epsilon is " + epsilon,
          "finite and not negative");
      refused(() -> LayerNorm.builder(4).epsilon(epsilon), "epsilon is " + epsilon);
    }
    for (double epsilon : new double[] {0.0, Double.MIN_VALUE, Double.MAX_VALUE}) {
      assertThat(RmsNorm.builder(4).epsilon(epsilon).build().spec().epsilon()).hasValue(epsilon);
    }
    assertThat(RMS.spec().epsilon()).hasValue(1e-6);
    assertThat(LAYER.spec().epsilon()).hasValue(1e-5);
  }

  @Test
  void threads() {
    for (int threads : new int[] {0, -1, Integer.MIN_VALUE}) {
      refused(() -> RmsNorm.builder(4).threads(threads), "threads is " + threads, "at least 1");
    }
    assertThatCode(() -> RmsNorm.builder(4).threads(Integer.MAX_VALUE).build())
        .doesNotThrowAnyException();
  }

  @Test
  void gainAndBiasOfTheBuilder() {
    RmsNorm.Builder builder = RmsNorm.builder(4);
    for (int n : new int[] {0, 3, 5}) {
      String part = " has " + n + " elements, the rows are 4 wide";
      refused(() -> builder.gain(new float[n]), "gain" + part);
      refused(() -> builder.gain(new double[n]), "gain" + part);
      refused(() -> builder.bias(new float[n]), "bias" + part);
      refused(() -> builder.bias(new double[n]), "bias" + part);
    }
    refused(() -> builder.gain(rows(1, 3)), "gain has 3 elements, the rows are 4 wide");
    refused(() -> builder.bias(rows(1, 5)), "bias has 5 elements, the rows are 4 wide");
    refused(() -> builder.gain(rows(2, 4)), "gain has 2 rows, it must be one row");
    refused(() -> builder.bias(rows(0, 4)), "bias has 0 rows, it must be one row");
    assertThatThrownBy(() -> builder.gain((Rows) null)).hasMessage("gain is null");
    assertThatThrownBy(() -> builder.bias((Rows) null)).hasMessage("bias is null");
  }

  @Test
  void parametersOfTheCaller() {
    for (int n : new int[] {3, 5}) {
      String part = "gain has 1 x " + n + " elements, the rows are 4 wide";
      refused(() -> RMS.withParameters(rows(1, n), null), part);
      refused(() -> RMS.withParameters(Rows.of(new double[n], n), null), part);
    }
    refused(() -> RMS.withParameters(rows(0, 4), null), "gain has 0 x 4 elements");
    refused(() -> RMS.withParameters(rows(1, 4), rows(1, 3)), "bias has 1 x 3 elements");
    refused(
        () -> RMS.withParameters(rows(2, 4), rows(3, 4)),
        "bias has 12 elements, gain has 8: they must be the same");
    assertThat(RMS.withParameters(null, null)).isSameAs(RMS);
  }

  @Test
  void arraysThatAreNullAreNamed() {
    float[] row = new float[4];
    isNull(() -> RMS.apply((float[]) null, row), "x is null");
    isNull(() -> RMS.apply(row, (float[]) null), "y is null");
    isNull(() -> RmsNorm.builder(4).gain((float[]) null), "gain is null");
    isNull(() -> RmsNorm.builder(4).gain((double[]) null), "gain is null");
    isNull(() -> RmsNorm.builder(4).bias((float[]) null), "bias is null");
    isNull(() -> RmsNorm.builder(4).bias((double[]) null), "bias is null");
  }

  private static void isNull(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(message);
  }

  @Test
  void arraysOfOneLength() {
    String lengths = "y has 4 elements, x has 8: they must be the same";
    refused(() -> RMS.apply(new float[8], new float[4]), lengths);
    Norm ofCaller = RMS.withParameters(rows(1, 4), rows(1, 4));
    refused(() -> ofCaller.apply(new float[8], new float[4]), lengths);
    refused(() -> RMS.apply(new float[6], new float[6]), "6 elements", "width 4");
  }

  @Test
  void offsets() {
    refused(() -> RMS.apply(new float[8], 0, new float[8], 0, -1), "rows is -1");
    assertThatThrownBy(() -> RMS.apply(new float[8], -1, new float[8], 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("xOffset is -1, x has 8 elements: 1 x 4 must lie between");
    assertThatThrownBy(() -> RMS.apply(new float[8], 0, new float[8], 9, 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("yOffset is 9, y has 8 elements: 1 x 4 must lie between");
    assertThatThrownBy(() -> RMS.apply(new float[8], 5, new float[8], 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("xOffset is 5, x has 8 elements: 1 x 4 must lie between");
  }

  @Test
  void statisticsTooShort() {
    refused(
        () -> RMS.apply(rows(3, 4), rows(3, 4), new double[2]),
        "rstd has room for 2 rows, there are 3");
    refused(
        () -> LAYER.apply(rows(3, 4), rows(3, 4), new double[2], new double[3]),
        "mean has room for 2 rows, there are 3");
    refused(
        () -> LAYER.apply(rows(3, 4), rows(3, 4), new double[3], new double[0]),
        "rstd has room for 0 rows, there are 3");
  }

  @Test
  void statisticsThatOverlap() {
    double[] memory = new double[8];
    Rows in = Rows.of(memory, 4);
    Rows out = Rows.of(new double[8], 4);
    refused(() -> RMS.apply(in, out, memory), "rstd overlaps x: each must be memory of its own");
    L2Norm length = Norm.l2(4).build();
    refused(() -> length.apply(out, in, memory), "length overlaps y: each must be");
  }

  @Test
  void noRowsAreFine() {
    assertThatCode(
            () -> {
              RMS.apply(new float[0], new float[0]);
              RMS.apply(Rows.of(new double[0], 4), Rows.of(new double[0], 4));
              RMS.apply(rows(0, 4), rows(0, 4), new double[0]);
              LAYER.apply(rows(0, 4), rows(0, 4), new double[0], new double[0]);
              RMS.apply(new float[4], 4, new float[4], 4, 0);
            })
        .doesNotThrowAnyException();
    refused(() -> RMS.apply(rows(0, 4), rows(0, 5)), "y has rows 5 wide");
  }
}
