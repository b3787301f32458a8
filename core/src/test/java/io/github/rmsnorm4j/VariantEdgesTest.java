package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ResidualRounding.FIRST;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every choice makes of rows at the ends: zeros, one element, NaN, infinity, subnormals. */
class VariantEdgesTest {
  private static double[] apply(RmsNorm.Builder builder, double... x) {
    float[] rows = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      rows[i] = (float) x[i];
    }
    RmsNorm norm = builder.build();
    norm.apply(rows, rows);
    double[] y = x.clone();
    norm.apply(Rows.of(y, norm.width()), Rows.of(y, norm.width()));
    for (int i = 0; i < x.length; i++) {
      // Float64 rows, which have roundings of their own, come to the same.
      double unit = Math.abs(y[i]) * 0x1p-21;
      assertThat(
              rows[i] == (float) y[i]
                  || rows[i] != rows[i] && y[i] != y[i]
                  || Math.abs(rows[i] - y[i]) <= unit)
          .as("%s in float32, %s in float64", rows[i], y[i])
          .isTrue();
      y[i] = rows[i];
    }
    return y;
  }

  @ParameterizedTest
  @EnumSource
  void aRowOfZerosStaysZeroUnlessEpsilonIs(EpsilonPlacement placement) {
    for (CastOrder order : CastOrder.values()) {
      RmsNorm.Builder builder =
          RmsNorm.builder(3)
              .epsilonPlacement(placement)
              .castOrder(order)
              .gain(new float[] {1, 0, 2});
      assertThat(apply(builder.epsilon(1e-6), 0, 0, 0)).containsExactly(0, 0, 0);
      assertThat(apply(builder.epsilon(0), 0, 0, 0)).containsOnly(Double.NaN);
    }
  }

  @Test
  void anEpsilonAboveTheRootIsTheRootWhereItIsTheFloor() {
    RmsNorm.Builder builder = RmsNorm.builder(2).epsilonPlacement(EpsilonPlacement.FLOOR);
    assertThat(apply(builder.epsilon(2), 1, -1)).containsExactly(0.5, -0.5);
    assertThat(apply(builder.epsilon(0.5), 1, -1)).containsExactly(1, -1);
    builder.epsilonPlacement(EpsilonPlacement.OUTSIDE);
    assertThat(apply(builder.epsilon(1), 1, -1)).containsExactly(0.5, -0.5);
    builder.epsilonPlacement(EpsilonPlacement.INSIDE);
    assertThat(apply(builder.epsilon(3), 1, -1)).containsExactly(0.5, -0.5);
  }

  /** The statistic does not see them, the output does. */
  @Test
  void outsideThePartOfAPartialNorm() {
    RmsNorm.Builder builder = RmsNorm.builder(4).part(2).epsilon(0);
    assertThat(apply(builder, 1, -1, 7, 1e30)).containsExactly(1, -1, 7, (float) 1e30);
    assertThat(apply(builder, 1, -1, Double.NaN, 5)).containsExactly(1, -1, Double.NaN, 5);
    double infinity = Double.POSITIVE_INFINITY;
    assertThat(apply(builder, 1, -1, infinity, 5)).containsExactly(1, -1, infinity, 5);
    assertThat(apply(builder, 0, 0, 3, -3))
        .containsExactly(Double.NaN, Double.NaN, infinity, -infinity);
    assertThat(apply(builder, Double.NaN, 1, 1, 1)).containsOnly(Double.NaN);
    assertThat(apply(builder, infinity, 1, 1, 1)).containsExactly(Double.NaN, 0, 0, 0);
  }

  @ParameterizedTest
  @EnumSource
  void finiteRowsOfAnySize(CastOrder order) {
    RmsNorm.Builder builder = RmsNorm.builder(3).castOrder(order).epsilon(0);
    for (double size : new double[] {0x1p-149, 0x1p-130, 0x1p-126, 1, 0x1p125}) {
      assertThat(apply(builder, size, -size, size)).containsExactly(1, -1, 1);
    }
    builder.epsilonPlacement(EpsilonPlacement.OUTSIDE).part(1);
    assertThat(apply(builder, 0x1p-149, 0x1p-149, 0)).containsExactly(1, 1, 0);
  }

  /** An epsilon that is not inside the root hides the lost digits only if it is much larger. */
  @ParameterizedTest
  @EnumSource(names = {"OUTSIDE", "FLOOR"})
  void float64RowsWhoseSquaresLoseDigits(EpsilonPlacement placement) {
    double[] y = {3, -5, 7, 0.1};
    double[] tiny = Arrays.stream(y).map(value -> value * 0x1p-530).toArray();
    Rows row = Rows.of(y, 4);
    RmsNorm.builder(4).epsilon(0).build().apply(row, row);
    Rows tinyRow = Rows.of(tiny, 4);
    RmsNorm.Builder builder = RmsNorm.builder(4).epsilonPlacement(placement).epsilon(0x1p-700);
    builder.build().apply(tinyRow, tinyRow);
    assertThat(tiny).isEqualTo(y);
  }

  /** Where rstd is a normal float32 number and the root is not, or the other way round. */
  @ParameterizedTest
  @EnumSource
  void rootsAtTheEndsOfFloat32(CastOrder order) {
    for (int exponent = -130; exponent <= -123; exponent++) {
      for (EpsilonPlacement placement : EpsilonPlacement.values()) {
        double epsilon = placement == EpsilonPlacement.INSIDE ? 0 : 0x1p-128;
        Variant is = new Variant(false, 37, 29, epsilon, placement, order, 0, FIRST);
        RandomRows source = new RandomRows(new SplittableRandom(exponent));
        double[] x = source.scaled(FLOAT32, 37, Math.scalb(1.0, exponent), 0);
        double[] expected = Contract.row(is, new Values(FLOAT32, x), null, null, null, FLOAT32).y();
        float[] y = new float[37];
        for (int i = 0; i < 37; i++) {
          y[i] = (float) x[i];
        }
        is.norm(builder -> {}).apply(y, y);
        for (int i = 0; i < 37; i++) {
          assertThat((double) y[i]).as("2^%d, %s", exponent, is).isEqualTo(expected[i]);
        }
      }
    }
  }

  /** Float64 rows whose squares leave float64, where the statistic is of scaled elements. */
  @ParameterizedTest
  @EnumSource
  void float64RowsOfAnySize(EpsilonPlacement placement) {
    for (CastOrder order : CastOrder.values()) {
      for (double size : new double[] {Double.MIN_VALUE, 0x1p-1060, 0x1p-500, 0x1p600, 0x1p1023}) {
        double[] x = {size, -size, size, size / 2};
        RmsNorm.Builder builder =
            RmsNorm.builder(4).castOrder(order).epsilonPlacement(placement).epsilon(0).part(3);
        Rows row = Rows.of(x, 4);
        builder.build().apply(row, row);
        assertThat(Arrays.copyOf(x, 3)).as("%s, %s", order, size).containsExactly(1, -1, 1);
        assertThat(x[3]).isEqualTo(size == Double.MIN_VALUE ? 0 : 0.5);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void residualsThatCancelOrAreNotFinite(boolean centred) {
    Norm norm = Variant.plain(centred, 2, 1e-6).norm(builder -> {});
    float[] sum = {-1, -2, Float.NaN, 1, Float.POSITIVE_INFINITY, 1, Float.MAX_VALUE, 0};
    float[] x = {1, 2, 1, 1, 1, 1, Float.MAX_VALUE, 0};
    norm.addAndApply(Rows.of(x, 2), Rows.of(sum, 2), Rows.of(x, 2));
    float infinity = Float.POSITIVE_INFINITY;
    assertThat(sum).containsExactly(0, 0, Float.NaN, 2, infinity, 2, infinity, 0);
    assertThat(Arrays.copyOf(x, 5)).containsExactly(0, 0, Float.NaN, Float.NaN, Float.NaN);
    assertThat(x[6]).isNaN();
  }
}
