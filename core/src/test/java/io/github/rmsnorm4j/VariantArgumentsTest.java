package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.reference.Definitions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Choices that make no sense, alone or together, and residuals that do not fit. */
class VariantArgumentsTest {
  private static final RmsNorm RMS = RmsNorm.builder(4).build();
  private static final LayerNorm LAYER = LayerNorm.builder(4).build();

  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }

  private static Rows rows(int rows, int width) {
    return Rows.of(new float[rows * width], width);
  }

  private static Rows doubles(int rows) {
    return Rows.of(new double[rows * 4], 4);
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
    assertThatThrownBy(() -> RMS.addAndApply(rows(1, 4), null, rows(1, 4)))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("residual is null");
  }

  @Test
  void residualOfAnotherShape() {
    for (Norm norm : new Norm[] {RMS, LAYER}) {
      refused(
          () -> norm.addAndApply(rows(2, 4), rows(2, 3), rows(2, 4)),
          "residual has rows 3 wide, the norm is 4 wide");
      refused(
          () -> norm.addAndApply(rows(2, 4), rows(3, 4), rows(2, 4)),
          "residual has 3 rows, x has 2: they must be the same");
      refused(
          () -> norm.addAndApply(rows(2, 4), rows(2, 4), rows(1, 4)),
          "y has 1 rows, x has 2: they must be the same");
    }
  }

  @Test
  void residualOfAnotherArithmetic() {
    refused(
        () -> RMS.addAndApply(rows(1, 4), doubles(1), rows(1, 4)),
        "residual is float64, x is float32: both must be float64, or neither");
    Rows half = Rows.of(new short[4], ElementType.BFLOAT16, 4);
    refused(
        () -> LAYER.addAndApply(doubles(1), half, doubles(1)),
        "residual is bfloat16, x is float64: both must be float64, or neither");
    RMS.addAndApply(rows(1, 4), half, doubles(1));
  }

  @Test
  void residualThatOverlaps() {
    String message = "residual overlaps x or y: it must be memory of its own";
    Rows x = rows(2, 4);
    Rows y = rows(2, 4);
    refused(() -> RMS.addAndApply(x, x, y), message);
    refused(() -> RMS.addAndApply(x, y, y), message);
    float[] memory = new float[12];
    Rows head = Rows.of(memory, 0, 2, 4);
    Rows tail = Rows.of(memory, 4, 2, 4);
    refused(() -> RMS.addAndApply(head, tail, y), message);
    refused(() -> RMS.addAndApply(x, head, tail), message);
    // Between each other's rows there is room.
    Rows even = Rows.of(new float[16], 0, 2, 4, 8);
    RMS.addAndApply(even, y, even);
  }

  @Test
  void residualThatOverlapsTheGain() {
    float[] memory = new float[8];
    Saved saved = new Saved(Keep.NOTHING, 2);
    refused(
        () ->
            RMS.withParameters(Rows.of(memory, 4, 1, 4), null)
                .addAndApply(rows(2, 4), Rows.of(memory, 4), rows(2, 4), saved),
        "residual overlaps the gain or the bias: they would be overwritten while in use");
  }

  @Test
  void residualThatCannotBeWritten() {
    MemorySegment segment = MemorySegment.ofArray(new float[4]).asReadOnly();
    Rows readOnly = Rows.of(segment, ElementType.FLOAT32, 1, 4);
    refused(
        () -> RMS.addAndApply(rows(1, 4), readOnly, rows(1, 4)),
        "residual is read-only, it must be writable");
    RMS.addAndApply(readOnly, rows(1, 4), rows(1, 4));
  }

  @Test
  void residualThatIsGone() {
    Rows closed;
    try (Arena arena = Arena.ofConfined()) {
      closed = Rows.of(arena.allocate(16), ElementType.FLOAT32, 1, 4);
    }
    float[] y = {1, 2, 3, 4};
    assertThatThrownBy(() -> RMS.addAndApply(rows(1, 4), closed, Rows.of(y, 4)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("residual is in memory that has been closed");
    assertThat(y).containsExactly(1, 2, 3, 4);
  }

  @Test
  void residualOfAnotherThread() throws InterruptedException {
    try (Arena arena = Arena.ofConfined()) {
      Rows confined = Rows.of(arena.allocate(16), ElementType.FLOAT32, 1, 4);
      Throwable[] thrown = new Throwable[1];
      Thread other = new Thread(() -> RMS.addAndApply(rows(1, 4), confined, rows(1, 4)));
      other.setUncaughtExceptionHandler((thread, e) -> thrown[0] = e);
      other.start();
      other.join();
      assertThat(thrown[0])
          .isInstanceOf(WrongThreadException.class)
          .hasMessage("residual is in memory that is confined to another thread");
    }
  }
}
