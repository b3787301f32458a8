package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls with whole float arrays: a residual, and the passes of training. They have the bits of the
 * same calls with {@link Rows}, and refuse what those refuse.
 */
class FloatArraysTest {
  private static final int WIDTH = 70;
  private static final int ROWS = 5;
  private static final RmsNorm SMALL = RmsNorm.builder(4).gain(new float[] {1, 2, 3, 4}).build();

  private final float[] x = random(1);
  private final float[] residual = random(2);
  private final float[] dy = random(3);
  private final float[] dresidual = random(4);

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

  @ParameterizedTest
  @MethodSource("norms")
  void trainingPassesAreThoseOfRows(Norm norm) {
    for (Keep keep : Keep.values()) {
      Passes arrays = new Passes(keep);
      norm.apply(x, arrays.y, arrays.saved);
      norm.backward(dy, arrays.saved, arrays.dx, arrays.gradients());

      Passes expected = new Passes(keep);
      norm.apply(rows(x), rows(expected.y), expected.saved);
      norm.backward(rows(dy), expected.saved, rows(expected.dx), expected.gradients());
      arrays.assertSame(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("norms")
  void trainingPassesWithAResidualAreThoseOfRows(Norm norm) {
    Passes arrays = new Passes(Keep.INPUT);
    float[] sum = residual.clone();
    norm.addAndApply(x, sum, arrays.y, arrays.saved);
    norm.backward(dy, arrays.saved, dresidual, arrays.dx, arrays.gradients());

    Passes expected = new Passes(Keep.INPUT);
    float[] expectedSum = residual.clone();
    norm.addAndApply(rows(x), rows(expectedSum), rows(expected.y), expected.saved);
    norm.backward(
        rows(dy), expected.saved, rows(dresidual), rows(expected.dx), expected.gradients());
    arrays.assertSame(expected);
    assertThat(sum).containsExactly(expectedSum);
  }

  @ParameterizedTest
  @MethodSource("norms")
  void gradientsMayGoOverThoseThatTheyComeFrom(Norm norm) {
    Passes passes = new Passes(Keep.NOTHING);
    norm.apply(x, passes.y, passes.saved);
    norm.backward(dy, passes.saved, dresidual, passes.dx, null);

    float[] overDy = dy.clone();
    norm.backward(overDy, passes.saved, dresidual, overDy, null);
    assertThat(overDy).containsExactly(passes.dx);
    float[] overResidual = dresidual.clone();
    norm.backward(dy, passes.saved, overResidual, overResidual, null);
    assertThat(overResidual).containsExactly(passes.dx);
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
    refused(() -> SMALL.addAndApply(two, new float[8], new float[12]), "y has 3 rows, x has 2");
    refused(() -> SMALL.addAndApply(two, two, new float[8]), "residual overlaps x or y");
    refused(() -> SMALL.apply(two, two, forTwo()), "y is x, but the input is to be kept");
    refused(
        () -> SMALL.apply(new float[12], new float[12], forTwo()),
        "saved has room for 2 rows, there are 3");
  }

  @Test
  void gradientsThatDoNotFitAreNamed() {
    float[] two = {1, 2, 3, 4, 5, 6, 7, 8};
    float[] dx = new float[8];
    assertThatThrownBy(() -> SMALL.backward(two, forTwo(), dx, null))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("there has been no forward pass");
    Saved saved = forTwo();
    SMALL.apply(two, new float[8], saved);
    refused(
        () -> SMALL.backward(new float[4], saved, dx, null),
        "dy has 1 rows, the forward pass had 2");
    refused(() -> SMALL.backward(dx, saved, new float[10], null), "dx has 10 elements");
    refused(
        () -> SMALL.backward(dx, saved, new float[4], dx, null),
        "dresidual has 1 rows, the forward pass had 2");
    refused(() -> SMALL.backward(dx, saved, two, null), "dx overlaps what was kept");
  }

  @Test
  void whatIsNullIsNamed() {
    float[] one = new float[4];
    isNull(() -> SMALL.addAndApply(null, one, one), "x is null");
    isNull(() -> SMALL.addAndApply(one, null, one), "residual is null");
    isNull(() -> SMALL.addAndApply(one, new float[4], null), "y is null");
    isNull(() -> SMALL.apply(one, new float[4], (Saved) null), "saved is null");
    isNull(() -> SMALL.backward(one, null, new float[4], null), "saved is null");
    Saved saved = forTwo();
    SMALL.apply(one, new float[4], saved);
    isNull(() -> SMALL.backward(null, saved, one, null), "dy is null");
    isNull(() -> SMALL.backward(new float[4], saved, null, one, null), "dresidual is null");
  }

  private static Saved forTwo() {
    return new Saved(Keep.INPUT, 2);
  }

  private static void refused(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private static void isNull(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(message);
  }

  /** What a forward and a backward pass write. */
  private static final class Passes {
    final float[] y = new float[ROWS * WIDTH];
    final float[] dx = new float[ROWS * WIDTH];
    final float[] dgain = new float[WIDTH];
    final float[] dbias = new float[WIDTH];
    final Saved saved;

    Passes(Keep keep) {
      saved = new Saved(keep, ROWS);
    }

    ParameterGradients gradients() {
      return ParameterGradients.assigned(dgain, dbias);
    }

    void assertSame(Passes expected) {
      assertThat(y).as("y, %s", saved.keep()).containsExactly(expected.y);
      assertThat(dx).as("dx, %s", saved.keep()).containsExactly(expected.dx);
      assertThat(dgain).as("dgain, %s", saved.keep()).containsExactly(expected.dgain);
      assertThat(dbias).as("dbias, %s", saved.keep()).containsExactly(expected.dbias);
      assertThat(dx).doesNotContain(0f);
    }
  }
}
