package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of length 1, of any size; a row of zeros stays zeros, and its gradient is 0. */
class UnitLengthTest {
  private static final int WIDTH = 40;

  static List<Backend> backends() {
    List<Backend> backends = new ArrayList<>(Backends.EACH);
    backends.add(Backend.best());
    return backends;
  }

  private static L2Norm norm(Backend backend) {
    return L2Norm.builder(NormSpec.UNIT, WIDTH).backend(backend).build();
  }

  @ParameterizedTest
  @MethodSource("backends")
  void zerosStay(Backend backend) {
    float[] x = new float[3 * WIDTH];
    Arrays.fill(x, WIDTH, 2 * WIDTH, -0f);
    x[2 * WIDTH + 5] = Float.MIN_VALUE;
    float[] y = new float[x.length];
    norm(backend).apply(x, y);
    assertThat(Arrays.copyOf(y, 2 * WIDTH)).containsExactly(Arrays.copyOf(x, 2 * WIDTH));
    assertThat(y[2 * WIDTH + 5]).isEqualTo(1);
    float[] one = new float[WIDTH];
    norm(backend).apply(x, WIDTH, one, 0, 1);
    assertThat(one).containsOnly(-0f);
  }

  @ParameterizedTest
  @MethodSource("backends")
  void float64RowsOfAnySize(Backend backend) {
    for (double size : new double[] {0, Double.MIN_VALUE, 1e-310, 1e-160, 1, 1e160, 1e307}) {
      double[] x = new double[2 * WIDTH];
      Arrays.setAll(x, i -> size * (i % 2 == 0 ? 3 : -4));
      double[] y = new double[x.length];
      double[] length = new double[2];
      norm(backend).apply(Rows.of(x, WIDTH), Rows.of(y, WIDTH), length);
      double scaled = 0;
      for (int i = 0; i < WIDTH; i++) {
        scaled += y[i] * y[i];
      }
      assertThat(scaled).as("of %s", size).isCloseTo(size == 0 ? 0 : 1, within(1e-15));
      assertThat(length[0]).isCloseTo(size * 5 * Math.sqrt(WIDTH / 2), within(size * 1e-14));
    }
  }

  @ParameterizedTest
  @MethodSource("backends")
  void notANumberAndInfinityAreAsTheFormulaGives(Backend backend) {
    float[] x = new float[2 * WIDTH];
    Arrays.fill(x, 1);
    x[3] = Float.NaN;
    x[WIDTH + 3] = Float.NEGATIVE_INFINITY;
    float[] y = new float[x.length];
    norm(backend).apply(x, y);
    for (int i = 0; i < WIDTH; i++) {
      assertThat(y[i]).isNaN();
      assertThat(y[WIDTH + i]).isEqualTo(Float.valueOf(i == 3 ? Float.NaN : 0));
    }
  }

  @ParameterizedTest
  @EnumSource(ElementType.class)
  void gradientsAreZeroWhereTheRowIs(ElementType type) {
    for (Backend backend : backends()) {
      for (Keep keep : new Keep[] {Keep.INPUT, Keep.NOTHING}) {
        double[][] dx = gradients(backend, type, keep);
        assertThat(Arrays.stream(dx[0])).as("%s, %s", backend, keep).allMatch(d -> d == 0);
        double[] expected = Gradients.l2Norm(row(1), row(2), null, 0, EpsilonPlacement.FLOOR);
        assertThat(dx[1]).as("%s, %s", backend, keep).containsExactly(expected, within(0.01));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("backends")
  void aRowOfZerosAddsNothingToDgain(Backend backend) {
    float[] x = new float[WIDTH];
    float[] dy = new float[WIDTH];
    Arrays.fill(dy, 2);
    float[] dgain = new float[WIDTH];
    float[] dbias = new float[WIDTH];
    Saved saved = new Saved(Keep.INPUT, 1);
    L2Norm norm = L2Norm.builder(NormSpec.UNIT, WIDTH).gain(dy).bias(dy).backend(backend).build();
    norm.apply(Rows.of(x, norm.width()), Rows.of(new float[WIDTH], norm.width()), saved);
    norm.backward(
        Rows.of(dy, norm.width()),
        saved,
        Rows.of(new float[WIDTH], norm.width()),
        ParameterGradients.assigned(dgain, dbias));
    assertThat(dgain).containsOnly(0f);
    assertThat(dbias).containsOnly(2f);
  }

  /** Of a row of zeros, and of another one. */
  private static double[][] gradients(Backend backend, ElementType type, Keep keep) {
    Block x = new Block(Arena.ofAuto(), Place.NATIVE, type, 2, WIDTH, WIDTH);
    Block dy = new Block(Arena.ofAuto(), Place.NATIVE, type, 2, WIDTH, WIDTH);
    Block y = new Block(Arena.ofAuto(), Place.NATIVE, type, 2, WIDTH, WIDTH);
    Block dx = new Block(Arena.ofAuto(), Place.NATIVE, type, 2, WIDTH, WIDTH);
    x.put(0, new double[WIDTH]);
    x.put(1, row(1));
    dy.put(0, row(2));
    dy.put(1, row(2));
    L2Norm norm = norm(backend);
    Saved saved = new Saved(keep, 2);
    norm.apply(x.rows, y.rows, saved);
    norm.backward(dy.rows, saved, dx.rows, ParameterGradients.NONE);
    if (keep == Keep.INPUT) {
      assertThat(saved.rstd()[0]).isZero();
    }
    return new double[][] {dx.values(0), dx.values(1)};
  }

  /** Of numbers that each type has. */
  private static double[] row(int step) {
    double[] row = new double[WIDTH];
    Arrays.setAll(row, i -> i * step % 7 - 3);
    return row;
  }

  @ParameterizedTest
  @MethodSource("backends")
  void theDefinitionIsTheSame(Backend backend) {
    for (double[] row : new double[][] {new double[WIDTH], row(1)}) {
      double[] y = new double[WIDTH];
      norm(backend).apply(Rows.of(row, WIDTH), Rows.of(y, WIDTH));
      assertThat(y).containsExactly(Definitions.l2Norm(row, null, null, 0), within(1e-15));
    }
  }
}
