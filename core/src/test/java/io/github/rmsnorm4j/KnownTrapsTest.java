package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that other implementations got wrong, each under its name, in plain Java and vectors. */
class KnownTrapsTest {
  private static final long SEED = 51102;

  /** With E[x^2] - mean^2 in float32 the variance is negative or zero here. */
  @ParameterizedTest
  @EnumSource(names = {"FLOAT32", "FLOAT64"})
  void layerNormOfFourNeighboursAtFortyThousand(ElementType type) {
    double[] y = layerNorm(type, 1e-5, 40000, 40001, 40002, 40003);
    double[] expected = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
    for (int i = 0; i < 4; i++) {
      assertThat(y[i]).isCloseTo(expected[i], within(1e-7));
    }
    assertNearExact(true, type, 0, 40000, 40001, 40002, 40003);
  }

  @ParameterizedTest
  @CsvSource({"256, 1234", "10, 10", "4096, 0.1", "1000, -3e38", "5120, 1", "33, 1e-40"})
  void equalElements(int width, double value) {
    for (ElementType type : ElementType.values()) {
      double[] x = constant(width, Rounding.to(type, value));
      if (x[0] == 0 || Double.isInfinite(x[0])) {
        continue;
      }
      assertThat(layerNorm(type, 1e-5, x)).as("LayerNorm of " + type).containsOnly(0);
      double[] ones = constant(width, Math.signum(value));
      assertThat(rmsNorm(type, 0, x)).as("RMSNorm of " + type).containsExactly(ones, within(1e-7));
    }
  }

  /** Their squares are past 65,504, and so is every sum of them; of the last they are zero. */
  @ParameterizedTest
  @ValueSource(doubles = {4.1, 256, 300, 65504, 1e-4})
  void float16RowsWhoseSquaresOverflow(double size) {
    double rounded = Rounding.to(FLOAT16, size);
    double[] x = new double[4096];
    Arrays.setAll(x, i -> i % 2 == 0 ? rounded : -rounded);
    for (double[] y : new double[][] {rmsNorm(FLOAT16, 0, x), layerNorm(FLOAT16, 0, x)}) {
      assertThat(y).containsOnly(1, -1);
      assertThat(y[0]).isEqualTo(1);
    }
  }

  /** A bfloat16 sum of ones stands still at 256. */
  @Test
  void fiveThousandBfloat16Ones() {
    assertThat(rmsNorm(BFLOAT16, 1e-6, constant(5120, 1))).containsOnly(1);
    double[] x = constant(5120, 1);
    x[0] = 2;
    assertNearExact(true, BFLOAT16, 1e-5, x);
    assertNearExact(false, BFLOAT16, 1e-5, x);
  }

  @ParameterizedTest
  @EnumSource
  void rowsOfOneElement(ElementType type) {
    assertThat(rmsNorm(type, 0, -3)).containsExactly(-1);
    assertThat(rmsNorm(type, 16, 3))
        .containsExactly(new double[] {Rounding.to(type, 0.6)}, within(1e-7));
    assertThat(layerNorm(type, 1e-5, 7)).containsExactly(0);
  }

  @ParameterizedTest
  @EnumSource
  void rowsOfZerosGiveTheBias(ElementType type) {
    double[] zeros = new double[40];
    assertThat(rmsNorm(type, 1e-6, zeros)).containsOnly(0);
    assertThat(layerNorm(type, 1e-5, zeros)).containsOnly(0);
    double[] bias = new double[40];
    Arrays.setAll(bias, i -> i - 20);
    RmsNorm rms = RmsNorm.builder(40).gain(constant(40, 5)).bias(bias).build();
    LayerNorm layer = LayerNorm.builder(40).gain(constant(40, 5)).bias(bias).build();
    assertThat(apply(rms, type, zeros)[0]).containsExactly(bias);
    assertThat(apply(layer, type, zeros)[0]).containsExactly(bias);
  }

  /** 0 / 0 is not hidden. */
  @ParameterizedTest
  @EnumSource
  void rowsOfZerosWithoutEpsilonAreNaN(ElementType type) {
    assertThat(rmsNorm(type, 0, new double[40])).containsOnly(Double.NaN);
    assertThat(layerNorm(type, 0, new double[40])).containsOnly(Double.NaN);
    assertThat(layerNorm(type, 0, constant(40, 1))).containsOnly(Double.NaN);
  }

  @ParameterizedTest
  @EnumSource
  void whatIsNotFiniteStaysInItsRow(ElementType type) {
    int width = 70;
    double[] plain = new RandomRows(new SplittableRandom(SEED)).scaled(type, width, 2, 0);
    for (boolean centred : new boolean[] {false, true}) {
      double[] alone = norm(centred, type, 1e-5, plain);
      for (double special : new double[] {Double.NaN, 1 / 0.0, -1 / 0.0}) {
        for (int at : new int[] {0, 33, width - 1}) {
          double[] bad = plain.clone();
          bad[at] = special;
          Norm norm = build(centred, width, 1e-5, Backend.best());
          double[][] y = apply(norm, type, plain, bad, plain);
          assertThat(y[0]).isEqualTo(alone);
          assertThat(y[2]).isEqualTo(alone);
          if (centred || special != special) {
            assertThat(y[1]).containsOnly(Double.NaN);
          } else {
            assertThat(y[1][at]).isNaN();
            assertThat(Arrays.stream(y[1]).filter(v -> v == 0).count()).isEqualTo(width - 1);
          }
        }
      }
    }
  }

  /** Sizes at which float32 squares overflow or vanish, subnormal ones too. */
  @ParameterizedTest
  @ValueSource(doubles = {3e38, 1e30, 1e20, 1e19, 1e-20, 1e-30, 1e-38, 1e-40, 1e-44})
  void float32RowsOfAnySize(double size) {
    double[] x = {1, -2, 3, 1.5, 0, 2, -1, 3, 2.5};
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) (x[i] / 3 * size);
    }
    assertNearExact(false, FLOAT32, 0, x);
    assertNearExact(true, FLOAT32, 0, x);
    assertNearExact(false, FLOAT32, 1e-6, x);
    assertNearExact(true, FLOAT32, 1e-5, x);
    if (size >= 1e-38) {
      assertNearExact(false, BFLOAT16, 0, rounded(BFLOAT16, x));
    }
  }

  @Test
  void scalingByAPowerOfTwoChangesNoBitWithoutEpsilon() {
    double[] x = new RandomRows(new SplittableRandom(SEED)).scaled(FLOAT32, 500, 2, 0.5);
    for (boolean centred : new boolean[] {false, true}) {
      double[] y = norm(centred, FLOAT32, 0, x);
      for (int exponent : new int[] {-90, -70, -10, 10, 70, 100}) {
        double[] scaled = Arrays.stream(x).map(v -> Math.scalb(v, exponent)).toArray();
        assertThat(norm(centred, FLOAT32, 0, scaled)).as("times 2^" + exponent).isEqualTo(y);
      }
    }
  }

  /** Adding a bias of 0 is an operation, no bias is none. */
  @Test
  void minusZeroIsKeptWithoutABias() {
    for (ElementType type : ElementType.values()) {
      assertThat(bits(rmsNorm(type, 1e-6, -0.0, 1)[0])).isEqualTo(bits(-0.0));
      assertThat(bits(layerNorm(type, 1e-6, -1, -0.0, 1)[1])).isEqualTo(bits(-0.0));
      RmsNorm biased = RmsNorm.builder(2).bias(new double[2]).build();
      assertThat(bits(apply(biased, type, new double[] {-0.0, 1})[0][0])).isEqualTo(bits(0.0));
    }
  }

  /** Small rows show which epsilon it is, and that it stands inside the root. */
  @ParameterizedTest
  @CsvSource({"1e-5, 0.3015", "1e-6, 0.7071", "1.1920929e-7, 0.9452", "1e-12, 1.0000"})
  void rowsOfAThousandthShowEpsilon(double epsilon, double rms) {
    double[] x = new double[512];
    Arrays.setAll(x, i -> i % 2 == 0 ? 1e-3f : -1e-3f);
    for (boolean centred : new boolean[] {false, true}) {
      double[] y = norm(centred, FLOAT32, epsilon, x);
      double square = Arrays.stream(y).map(v -> v * v).average().orElseThrow();
      assertThat(Math.sqrt(square)).isCloseTo(rms, within(5e-5));
    }
  }

  @Test
  void resultsBeyondFloat16AreInfinite() {
    RmsNorm norm = RmsNorm.builder(2).gain(new float[] {65519, 65520}).epsilon(0).build();
    assertThat(apply(norm, FLOAT16, new double[] {1, -1})[0])
        .containsExactly(65504, Double.NEGATIVE_INFINITY);
  }

  /** Against decimals of 50 digits, within the contract's bound, and the stored type's rounding. */
  private static void assertNearExact(
      boolean centred, ElementType type, double epsilon, double... x) {
    double[] y = norm(centred, type, epsilon, x);
    Exact exact = new Exact(centred, x, epsilon, null, null);
    double largest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
    double reach = exact.rstd.multiply(new BigDecimal(largest)).doubleValue();
    double rstd = exact.rstd.doubleValue();
    for (int i = 0; i < x.length; i++) {
      double wanted = exact.y[i].doubleValue();
      double allowed =
          type == FLOAT64
              ? 0x1p-45 * Math.abs(wanted)
                  + (centred ? 0x1p-51 * reach + Double.MIN_VALUE * Math.min(rstd, 0x1p1000) : 0)
              : (centred ? 5.01 : 3.01) * 0x1p-24 * Math.abs(wanted)
                  + 0x1p-148
                  + (centred ? 0x1p-46 * reach + 0x1p-150 * rstd : 0)
                  + (type == FLOAT32 ? 0 : Rounding.half(type, 2 * wanted));
      if (!(exact.error(i, y[i]) <= allowed)) {
        throw new AssertionError(
            "element %d of %s of %s is %s, exactly %s"
                .formatted(i, centred ? "LayerNorm" : "RMSNorm", type, y[i], wanted));
      }
    }
  }

  private static double[] rmsNorm(ElementType type, double epsilon, double... x) {
    return norm(false, type, epsilon, x);
  }

  private static double[] layerNorm(ElementType type, double epsilon, double... x) {
    return norm(true, type, epsilon, x);
  }

  /** One row, by both backends, whose bits must be the same. */
  private static double[] norm(boolean centred, ElementType type, double epsilon, double... x) {
    double[] y = apply(build(centred, x.length, epsilon, Backend.scalar()), type, x)[0];
    double[] best = apply(build(centred, x.length, epsilon, Backend.best()), type, x)[0];
    assertThat(bits(best)).as("by vectors").isEqualTo(bits(y));
    return y;
  }

  private static Norm build(boolean centred, int width, double epsilon, Backend backend) {
    return centred
        ? LayerNorm.builder(width).epsilon(epsilon).backend(backend).build()
        : RmsNorm.builder(width).epsilon(epsilon).backend(backend).build();
  }

  /** Normalises rows stored in a type, to the same type. */
  private static double[][] apply(Norm norm, ElementType type, double[]... x) {
    try (Arena arena = Arena.ofConfined()) {
      int width = norm.width();
      Block in = new Block(arena, Place.NATIVE, type, x.length, width, width);
      Block out = new Block(arena, Place.NATIVE, type, x.length, width, width);
      for (int r = 0; r < x.length; r++) {
        in.put(r, x[r]);
        assertThat(in.values(r)).as("the row is of the type").isEqualTo(x[r]);
      }
      norm.apply(in.rows, out.rows);
      double[][] y = new double[x.length][];
      Arrays.setAll(y, out::values);
      return y;
    }
  }

  private static double[] constant(int width, double value) {
    double[] row = new double[width];
    Arrays.fill(row, value);
    return row;
  }

  private static double[] rounded(ElementType type, double[] x) {
    return Arrays.stream(x).map(v -> Rounding.to(type, v)).toArray();
  }

  /** One array's patterns, so that -0.0 differs from 0.0; all NaN are one. */
  private static long[] bits(double... values) {
    return Arrays.stream(values).mapToLong(Double::doubleToLongBits).toArray();
  }
}
