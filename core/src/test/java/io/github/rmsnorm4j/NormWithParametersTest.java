package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.internal.device.NormParts;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A norm with a gain and a bias in the memory of the caller is the norm that was built with them.
 */
class NormWithParametersTest {
  private static final int WIDTH = 40;
  private static final int ROWS = 6;

  private final SplittableRandom random = new SplittableRandom(11);

  private float[] numbers(int rows) {
    float[] numbers = new float[rows * WIDTH];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (float) random.nextDouble(-2, 3);
    }
    return numbers;
  }

  private static Rows rows(float[] numbers) {
    return Rows.of(numbers, WIDTH);
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void eachCallReadsThemAnew() {
    float[] gain = numbers(1);
    float[] bias = numbers(1);
    Norm norm = LayerNorm.builder(WIDTH).gain(numbers(1)).bias(numbers(1)).build();
    Norm view = norm.withParameters(rows(gain), rows(bias));
    float[] x = numbers(ROWS);
    float[] y = new float[x.length];
    for (int step = 0; step < 3; step++) {
      gain[step] = step;
      bias[39 - step] = -step;
      float[] expected = new float[x.length];
      LayerNorm.builder(WIDTH).gain(gain).bias(bias).build().apply(x, expected);
      view.apply(x, y);
      assertThat(y).containsExactly(expected);
      Arrays.fill(y, 0);
      view.apply(rows(x), rows(y));
      assertThat(y).containsExactly(expected);
    }
  }

  @Test
  void whatIsNullStays() {
    float[] gain = numbers(1);
    float[] bias = numbers(1);
    float[] x = numbers(ROWS);
    float[] expected = new float[x.length];
    LayerNorm.builder(WIDTH).gain(gain).bias(bias).build().apply(x, expected);
    Norm norm = LayerNorm.builder(WIDTH).bias(bias).build();
    assertThat(norm.withParameters(null, null)).isSameAs(norm);
    Norm ofGain = norm.withParameters(rows(gain), null);
    assertThat(result(ofGain, x)).containsExactly(expected);
    Norm ofBoth =
        LayerNorm.builder(WIDTH).gain(numbers(1)).build().withParameters(null, rows(bias));
    assertThat(result(ofBoth.withParameters(rows(gain), null), x)).containsExactly(expected);
    float[] one = new float[WIDTH];
    ofBoth.apply(x, 0, gain, 0, one, 0, 1);
    assertThat(one).containsExactly(Arrays.copyOf(expected, WIDTH));
  }

  private static float[] result(Norm norm, float[] x) {
    float[] y = new float[x.length];
    norm.apply(x, y);
    return y;
  }

  @Test
  void shareWhatTheNormHasMade() {
    Norm norm = RmsNorm.builder(WIDTH).gain(numbers(1)).build();
    Norm view = norm.withParameters(rows(numbers(1)), null);
    view.apply(rows(numbers(ROWS)), rows(numbers(ROWS)));
    assertThat(view.backEndParts).isNull();
    assertThat(view.backEndParts()).isNotNull().isSameAs(norm.backEndParts);
    assertThat(view.withParameters(null, rows(numbers(1))).backEndParts())
        .isSameAs(norm.backEndParts);
  }

  @Test
  void sayWhatTheyHave() {
    Norm norm = RmsNorm.builder(WIDTH).gain(numbers(1)).build();
    Norm view = norm.withParameters(null, rows(numbers(1)));
    assertThat(view).isInstanceOf(RmsNorm.class).isNotEqualTo(norm);
    assertThat(view.spec()).isEqualTo(norm.spec());
    assertThat(view.parameterCount()).isEqualTo(2 * WIDTH);
    assertThat(norm.parameterCount()).isEqualTo(WIDTH);
    assertThat(view).hasToString("RmsNorm(40, rmsnorm, gain, given bias)");
    Norm ofSamples = RmsNorm.llama(WIDTH).build().withParameters(rows(numbers(3)), null);
    assertThat(ofSamples).hasToString("RmsNorm(40, llama, given gain)");
    assertThat(ofSamples.parameterCount()).isEqualTo(3 * WIDTH);
  }

  /** On whichever of the norms the backward pass is called, it is that of the forward call. */
  @ParameterizedTest
  @EnumSource
  void aBackwardCallHasThoseOfItsForwardCall(Keep keep) {
    float[] gain = numbers(1);
    float[] x = numbers(ROWS);
    Norm norm = RmsNorm.builder(WIDTH).gain(numbers(1)).build();
    Norm view = norm.withParameters(rows(gain), null);
    Norm other = norm.withParameters(rows(numbers(1)), null);
    Norm built = RmsNorm.builder(WIDTH).gain(gain).build();
    float[] dy = numbers(ROWS);
    String expected = gradients(built, built, keep, x, dy);
    for (Norm ofBackward : new Norm[] {norm, view, other}) {
      assertThat(gradients(view, ofBackward, keep, x, dy)).isEqualTo(expected);
    }
    assertThat(gradients(norm, view, keep, x, dy)).isEqualTo(gradients(norm, norm, keep, x, dy));
    refused(
        () -> gradients(view, built, keep, x, dy), "saved is of a forward pass of another norm");
  }

  private static String gradients(Norm forward, Norm backward, Keep keep, float[] x, float[] dy) {
    Saved saved = new Saved(keep, ROWS);
    float[] y = new float[x.length];
    float[] dx = new float[x.length];
    float[] dgain = new float[WIDTH];
    forward.apply(rows(x), rows(y), saved);
    backward.backward(rows(dy), saved, rows(dx), ParameterGradients.assigned(dgain, null));
    return Arrays.toString(y) + Arrays.toString(dx) + Arrays.toString(dgain);
  }

  /** With y stored and without, with a residual and without. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void codesAreOfTheResultWithThem(boolean stored) {
    float[] gain = numbers(2);
    float[] bias = numbers(2);
    float[] x = numbers(ROWS);
    Norm view = LayerNorm.builder(WIDTH).build().withParameters(rows(gain), rows(bias));
    float[] wanted = result(view, x);
    Codes expected = new Codes();
    Quantizer.defaults().quantize(rows(wanted), expected.rows);
    float[] y = new float[x.length];
    Codes codes = new Codes();
    view.apply(rows(x), stored ? rows(y) : null, codes.rows);
    expected.same(codes);
    assertThat(y).containsExactly(stored ? wanted : new float[x.length]);
    Codes ofSum = new Codes();
    view.addAndApply(rows(new float[x.length]), rows(x), stored ? rows(y) : null, ofSum.rows);
    expected.same(ofSum);
  }

  private static final class Codes {
    private final byte[] codes = new byte[ROWS * WIDTH];
    private final float[] scales = new float[ROWS];
    private final QuantizedRows rows =
        QuantizedRows.of(codes, scales, QuantizedType.int8PerRow(), WIDTH);

    private void same(Codes other) {
      assertThat(other.codes).containsExactly(codes);
      assertThat(other.scales).containsExactly(scales);
    }
  }

  /** Both norms of a pair may have them, also where nothing is kept. */
  @Test
  void pairs() {
    float[] gain = numbers(1);
    float[] next = numbers(1);
    float[] x = numbers(ROWS);
    float[] residual = numbers(ROWS);
    float[] sum = residual.clone();
    Norm norm = RmsNorm.builder(WIDTH).build();
    float[] y = new float[x.length];
    norm.withParameters(rows(gain), null)
        .applyAndAdd(rows(x), rows(sum), norm.withParameters(rows(next), null), rows(y));
    float[] wantedSum = residual.clone();
    float[] wanted = new float[x.length];
    Norm first = RmsNorm.builder(WIDTH).gain(gain).build();
    first.applyAndAdd(
        rows(x), rows(wantedSum), RmsNorm.builder(WIDTH).gain(next).build(), rows(wanted));
    assertThat(y).containsExactly(wanted);
    assertThat(sum).containsExactly(wantedSum);
  }

  /** Row i of N takes row i * S / N of the samples, as where rows are in one array. */
  @Test
  void rowsOfTheirOwn() {
    float[] gain = numbers(3);
    float[] bias = numbers(3);
    float[] x = numbers(ROWS);
    Norm view = LayerNorm.builder(WIDTH).build().withParameters(rows(gain), rows(bias));
    float[] wanted = result(view, x);
    float[][] xs = new float[ROWS][];
    for (int i = 0; i < ROWS; i++) {
      xs[i] = Arrays.copyOfRange(x, i * WIDTH, (i + 1) * WIDTH);
    }
    float[][] ys = new float[ROWS][WIDTH];
    view.apply(xs, ys);
    for (int i = 0; i < ROWS; i++) {
      assertThat(ys[i]).containsExactly(Arrays.copyOfRange(wanted, i * WIDTH, (i + 1) * WIDTH));
    }
    refused(() -> view.apply(new float[2][WIDTH], new float[2][WIDTH]), "gain has 3 rows, x has 2");
    float[][] overGain = {new float[WIDTH], Arrays.copyOf(gain, WIDTH)};
    Norm ofRow = LayerNorm.builder(WIDTH).build().withParameters(rows(overGain[1]), null);
    refused(() -> ofRow.apply(new float[2][WIDTH], overGain), "y overlaps gain");
    assertThat(overGain[0]).as("nothing is written").containsOnly(0);
  }

  /** The gain is the caller's alone, so the caller does all rows. */
  @Test
  void confinedMemoryIsReadByItsThread() {
    try (Arena arena = Arena.ofConfined()) {
      Rows gain = Rows.of(arena.allocate(4L * 4096), ElementType.FLOAT32, 1, 4096);
      Norm view = RmsNorm.builder(4096).threads(4).build().withParameters(gain, null);
      float[][] ones = new float[256][4096];
      for (float[] row : ones) {
        Arrays.fill(row, 1);
      }
      view.apply(ones, ones);
      assertThat(ones[255]).containsOnly(0);
      assertThatThrownBy(
              () ->
                  CompletableFuture.runAsync(() -> view.apply(ones[0], ones[1]))
                      .orTimeout(1, TimeUnit.MINUTES)
                      .join())
          .hasCauseInstanceOf(WrongThreadException.class)
          .hasMessageContaining("gain is in memory that is confined to another thread");
    }
  }

  @Test
  void accessIsCheckedAtEachCall() {
    Norm norm = RmsNorm.builder(WIDTH).build();
    Norm view;
    try (Arena arena = Arena.ofShared()) {
      Rows gain = Rows.of(arena.allocate(4L * WIDTH), ElementType.FLOAT32, 1, WIDTH);
      view = norm.withParameters(gain, null);
      view.apply(numbers(1), numbers(1));
    }
    assertThatThrownBy(() -> view.apply(numbers(1), numbers(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("gain is in memory that has been closed");
  }

  /** A device has memory of its own for them. */
  @Test
  void aDeviceTakesTheNormItself() {
    Norm view = RmsNorm.builder(WIDTH).build().withParameters(rows(numbers(1)), null);
    refused(() -> NormParts.of(view), "for a device its gain and bias must be its own");
  }
}
