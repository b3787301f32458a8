package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls with float arrays. They are bit-identical to the same calls with {@link Rows}, and refuse
 * what those refuse.
 */
class FloatArraysTest {
  private static final int WIDTH = 70;
  private static final int ROWS = 5;
  private static final RmsNorm SMALL = RmsNorm.builder(4).gain(new float[] {1, 2, 3, 4}).build();

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

  @Test
  void rowsOfTheirOwnThatDoNotFitAreNamed() {
    float[] one = new float[4];
    float[] two = new float[4];
    float[][] both = {one, two};
    refused(() -> SMALL.apply(both, new float[3][4]), "y has 3 rows, x has 2: they must be");
    refused(
        () -> SMALL.apply(both, new float[][] {one, new float[5]}),
        "y[1] has 5 elements, the norm is 4 wide");
    refused(() -> SMALL.apply(new float[1][3], new float[1][4]), "x[0] has 3 elements");
    refused(
        () -> SMALL.apply(both, new float[][] {two, one}),
        "y[1] is x[0]: it must be an array of its own, or x[1]");
    refused(() -> SMALL.apply(new float[2][4], new float[][] {one, one}), "y[0] is y[1]");
    isNull(() -> SMALL.apply((float[][]) null, both), "x is null");
    isNull(() -> SMALL.apply(both, (float[][]) null), "y is null");
    isNull(() -> SMALL.apply(both, new float[][] {one, null}), "y[1] is null");
    isNull(() -> SMALL.apply(new float[2][], both), "x[0] is null");
    SMALL.apply(new float[0][], new float[0][]);
    RmsNorm gated = RmsNorm.builder(4).gate(Gate.SILU).build();
    refused(() -> gated.apply(new float[0][], new float[0][]), "gate is silu, this call has no z");
    SMALL.apply(new float[][] {one, one}, new float[2][4]);
  }

  @Test
  void arraysThatDoNotFitAreNamed() {
    float[] two = new float[8];
    refused(
        () -> SMALL.addAndApply(new float[7], two, two), "x has 7 elements, they must be whole");
    refused(
        () -> SMALL.addAndApply(two, new float[9], new float[8]),
        "residual has 9 elements, they must be whole rows of 4");
    refused(
        () -> SMALL.addAndApply(two, new float[4], new float[8]),
        "residual has 1 rows, x has 2: they must be the same");
    refused(() -> SMALL.addAndApply(two, two, new float[8]), "residual overlaps x: each must");
    refused(() -> SMALL.addAndApply(two, new float[8], new float[12]), "y has 3 rows, x has 2");
  }

  @Test
  void partsOfArraysThatDoNotFitAreNamed() {
    float[] two = new float[8];
    outside(() -> SMALL.addAndApply(two, 5, new float[8], 0, two, 5, 1), "xOffset is 5, x has 8");
    outside(
        () -> SMALL.addAndApply(two, 0, new float[8], -1, two, 0, 1),
        "residualOffset is -1, residual has 8 elements: 1 x 4 must lie between");
    outside(() -> SMALL.addAndApply(two, 0, new float[8], 0, two, 1, 2), "yOffset is 1, y has 8");
    outside(() -> SMALL.apply(two, 0, two, 5, two, 0, 2), "gainOffset is 5, gain has 8 elements");
    SMALL.addAndApply(two, 0, two, 4, new float[4], 0, 1);
    SMALL.apply(new float[4], 0, two, 0, two, 4, 1);
  }

  private static void outside(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining(message);
  }

  @Test
  void whatIsNullIsNamed() {
    float[] one = new float[4];
    isNull(() -> SMALL.addAndApply(null, one, one), "x is null");
    isNull(() -> SMALL.addAndApply(one, null, one), "residual is null");
    isNull(() -> SMALL.addAndApply(one, new float[4], null), "y is null");
    isNull(
        () -> SMALL.apply(Rows.of(one, 4), Rows.of(new float[4], 4), (Saved) null),
        "saved is null");
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static void isNull(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(message);
  }
}
