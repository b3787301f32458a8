package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.reference.Definitions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Choices that make no sense, alone or together. */
class VariantArgumentsTest {
  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }

  @ParameterizedTest
  @EnumSource(names = "FLOAT32", mode = EnumSource.Mode.EXCLUDE)
  void aBiasNeedsTheDefaultCastOrder(CastOrder order) {
    String message = "cast order is " + order + ", with a bias it must be FLOAT32";
    RmsNorm.Builder builder = RmsNorm.builder(4).castOrder(order);
    refused(() -> RmsNorm.builder(4).bias(new float[4]).castOrder(order).build(), message);
    RmsNorm norm = builder.build();
    float[] y = {1, 2, 3, 4};
    refused(
        () ->
            norm.withParameters(
                    Rows.of(new float[4], norm.width()), Rows.of(new float[4], norm.width()))
                .apply(new float[4], y),
        message);
    assertThat(y).containsExactly(1, 2, 3, 4);
  }

  @Test
  void t5HasNoGainOffset() {
    refused(
        () -> RmsNorm.t5(4).gainOffset(1).build(),
        "gain offset is 1.0, it must be 0 with cast order T5: that rounds to the type of the gain"
            + " as stored");
    refused(
        () -> RmsNorm.gemma(4).castOrder(CastOrder.T5).gain(new float[4]).build(),
        "gain offset is 1.0, it must be 0 with cast order T5: that rounds to the type of the gain"
            + " as stored");
    assertThat(RmsNorm.t5(4).gainOffset(0).build().width()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 5, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void part(int k) {
    refused(
        () -> RmsNorm.builder(4).part(k),
        "part is " + k + ", it must be between 1 and the width, 4");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.0, -0.5, 1.0000000000000002, Double.NaN, Double.POSITIVE_INFINITY})
  void share(double p) {
    String message = "part is " + p + ", it must be above 0 and at most 1";
    refused(() -> RmsNorm.builder(4).partial(p), message);
    refused(() -> RmsNorm.builder(4).partialRoundedDown(p), message);
  }

  @Test
  void aShareOfNothing() {
    refused(
        () -> RmsNorm.builder(4).partialRoundedDown(0.24),
        "part is 6/25 down, it must leave at least one of the 4 elements of a row");
    assertThat(partOf(RmsNorm.builder(4).partial(Double.MIN_VALUE))).isEqualTo(1);
  }

  /**
   * Rounded up shares are decimals; rounded down they are float64 numbers, as in the published
   * code: there 100 * 0.07 is above 7, and 100 * 0.29 below 29.
   */
  @ParameterizedTest
  @CsvSource({
    "512, 0.0625, 32, 32",
    "100, 0.0625, 7, 6",
    "100, 0.07, 7, 7",
    "100, 0.29, 29, 28",
    "10, 0.3, 3, 3",
    "1000, 0.001, 1, 1",
    "1000, 0.57, 570, 570",
    "10, 0.31, 4, 3",
    "3, 1, 3, 3"
  })
  void shares(int width, double p, int up, int down) {
    assertThat(partOf(RmsNorm.builder(width).partial(p))).isEqualTo(up);
    assertThat(partOf(RmsNorm.builder(width).partialRoundedDown(p))).isEqualTo(down);
    assertThat(Definitions.part(width, p)).isEqualTo(up);
    assertThat(Definitions.partOfPublishedCode(width, p)).isEqualTo(down);
  }

  /** Seen from outside: of a row 1, 2, 3, ... every part has a mean square of its own. */
  private static int partOf(RmsNorm.Builder builder) {
    RmsNorm norm = builder.epsilon(0).build();
    double[] x = new double[norm.width()];
    for (int i = 0; i < x.length; i++) {
      x[i] = i + 1;
    }
    double[] rstd = new double[1];
    norm.apply(Rows.of(x, x.length), Rows.of(new double[x.length], x.length), rstd);
    for (int k = 1; k <= x.length; k++) {
      if (Math.abs(rstd[0] * Math.sqrt(Definitions.meanSquare(x, k)) - 1) < 1e-12) {
        return k;
      }
    }
    return 0;
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void gainOffset(double offset) {
    String message = "gain offset is " + offset + ", it must be finite";
    refused(() -> RmsNorm.builder(4).gainOffset(offset), message);
    refused(() -> LayerNorm.builder(4).gainOffset(offset), message);
  }

  @Test
  void noNulls() {
    assertThatThrownBy(() -> RmsNorm.builder(4).castOrder(null)).hasMessage("castOrder is null");
    assertThatThrownBy(() -> LayerNorm.builder(4).epsilonPlacement(null))
        .hasMessage("epsilonPlacement is null");
    assertThatThrownBy(() -> RmsNorm.builder(4).residualRounding(null))
        .hasMessage("residualRounding is null");
    assertThatThrownBy(() -> RmsNorm.builder(null, 4)).hasMessage("spec is null");
    assertThatThrownBy(() -> NormSpec.parse(null)).hasMessage("text is null");
  }
}
