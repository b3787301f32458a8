package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls with float arrays are bit-identical to the same calls with {@link Rows}. RefusedCallsTest
 * has what they refuse.
 */
class FloatArraysTest {
  private static final int WIDTH = 70;
  private static final int ROWS = 5;

  private final float[] x = random(1);
  private final float[] residual = random(2);

  static Stream<Norm> norms() {
    float[] gain = random(new Random(5), WIDTH);
    float[] bias = random(new Random(6), WIDTH);
    return Stream.of(
        RmsNorm.builder(WIDTH).gain(gain).build(),
        RmsNorm.gemma(WIDTH).gain(gain).residualRounding(ResidualRounding.LAST).build(),
        LayerNorm.builder(WIDTH).gain(gain).bias(bias).build());
  }

  private static float[] random(long seed) {
    return random(new Random(seed), ROWS * WIDTH);
  }

  private static float[] random(Random random, int length) {
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static Rows rows(float[] array) {
    return Rows.of(array, WIDTH);
  }

  @ParameterizedTest
  @MethodSource("norms")
  void residualIsAddedAsToRows(Norm norm) {
    float[] sum = residual.clone();
    float[] y = new float[x.length];
    norm.addAndApply(x, sum, y);

    float[] expectedSum = residual.clone();
    float[] expected = new float[x.length];
    norm.addAndApply(rows(x), rows(expectedSum), rows(expected));
    assertThat(y).containsExactly(expected);
    assertThat(sum).containsExactly(expectedSum);

    float[] inPlace = x.clone();
    norm.addAndApply(inPlace, residual.clone(), inPlace);
    assertThat(inPlace).containsExactly(expected);
  }

  /** On norms that a back end serves, too, and on several threads. */
  static Stream<Norm> normsOfEachKind() {
    float[] gain = random(new Random(5), WIDTH);
    return Stream.concat(
        norms(),
        Stream.of(
            RmsNorm.gemma(WIDTH).gain(gain).threads(2).backend(Backend.scalar()).build(),
            RmsNorm.onnx(WIDTH).gain(gain).build(),
            RmsNorm.builder(WIDTH).groupCount(2).gain(random(new Random(5), WIDTH / 2)).build()));
  }

  @ParameterizedTest
  @MethodSource("normsOfEachKind")
  void offsetsChangeNothing(Norm norm) {
    float[] expected = new float[x.length];
    float[] expectedSum = residual.clone();
    norm.addAndApply(rows(x), rows(expectedSum), rows(expected));
    float[] xs = at(3, x);
    float[] sum = at(1, residual);
    float[] y = at(2, new float[x.length]);
    norm.addAndApply(xs, 3, sum, 1, y, 2, ROWS);
    assertThat(y).containsExactly(at(2, expected));
    assertThat(sum).containsExactly(at(1, expectedSum));

    float[] gain = random(new Random(7), WIDTH);
    norm.withParameters(rows(gain), null).apply(rows(x), rows(expected));
    norm.apply(xs, 3, at(4, gain), 4, y, 2, ROWS);
    assertThat(y).containsExactly(at(2, expected));
    norm.apply(xs, 3, gain, 0, xs, 3, ROWS);
    assertThat(xs).containsExactly(at(3, expected));
    float[] whole = new float[x.length];
    norm.withParameters(rows(gain), null).apply(x, whole);
    assertThat(whole).containsExactly(expected);
  }

  /** Between numbers that must stay. */
  private static float[] at(int offset, float[] values) {
    float[] array = new float[offset + values.length + 2];
    Arrays.fill(array, 7);
    System.arraycopy(values, 0, array, offset, values.length);
    return array;
  }

  @ParameterizedTest
  @MethodSource("normsOfEachKind")
  void rowsMayBeArraysOfTheirOwn(Norm norm) {
    float[] expected = new float[x.length];
    norm.apply(rows(x), rows(expected));
    float[][] in = split(x);
    float[][] y = new float[ROWS][WIDTH];
    norm.apply(in, y);
    assertThat(y).isDeepEqualTo(split(expected));
    norm.apply(in, in);
    assertThat(in).isDeepEqualTo(split(expected));
  }

  private static float[][] split(float[] rows) {
    float[][] split = new float[ROWS][];
    for (int i = 0; i < ROWS; i++) {
      split[i] = Arrays.copyOfRange(rows, i * WIDTH, (i + 1) * WIDTH);
    }
    return split;
  }

  /** Enough rows that each of two threads has its MiB. */
  @Test
  void rowsOfTheirOwnGoToSeveralThreads() {
    int width = 4096;
    float[][] rows = new float[100][width];
    float[][] y = new float[rows.length][width];
    for (int i = 0; i < rows.length; i++) {
      rows[i][i] = 1 << i % 8;
    }
    RmsNorm.builder(width).threads(2).epsilon(0).build().apply(rows, y);
    for (int i = 0; i < y.length; i++) {
      assertThat(y[i][i]).as("row %d", i).isEqualTo(64);
    }
  }
}
