package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bounds of docs/numerics.md for wide rows that are the worst for LayerNorm's sums: the first
 * element is the outlier of the row, or all elements but one are equal. The rows have few different
 * elements, so that decimals have the exact answer at any width.
 */
class WideRowBoundTest {
  private static final MathContext DIGITS = new MathContext(60);
  private static final double UNIT = 0x1p-53;

  /** Different elements in a row, apart from the first: no divisor of the lanes of a row sum. */
  private static final int PERIOD = 97;

  /** A row: its first element, those that the others are in turn, and its last one. */
  private record Row(String what, int width, float first, float[] others, float last) {
    Row(String what, int width, float first, float... others) {
      this(what, width, first, others, others[(width - 1) % others.length]);
    }

    float at(int i) {
      return i == 0 ? first : i == width - 1 ? last : others[i % others.length];
    }
  }

  private static Row[] rows(int width) {
    float[] near = new float[PERIOD];
    float[] wide = new float[PERIOD];
    for (int i = 0; i < PERIOD; i++) {
      near[i] = (float) (1.1 + 1e-4 * Math.sin(i));
      wide[i] = (float) Math.sin(i);
    }
    return new Row[] {
      new Row("equal but the first", width, -3.3f, 1.1f),
      new Row("equal but the first, by a unit", width, Math.nextDown(1f), 1f),
      new Row("equal but the last", width, 1.1f, new float[] {1.1f}, Math.nextUp(1.1f)),
      new Row("first far from near ones", width, 7.7f, near),
      new Row("first at the end of the range", width, 3e38f, wide),
      new Row("first is no outlier", width, 0.5f, wide)
    };
  }

  /** Mean and rstd in float64 of a row in 60 decimals. */
  private static final class ExactRow {
    final BigDecimal mean;
    final BigDecimal rstd;
    final double largest;

    /** The mean of (x - x0)^2, in variances. */
    final double kappa;

    ExactRow(Row row) {
      BigDecimal count = new BigDecimal(row.width);
      BigDecimal sum = new BigDecimal(row.first);
      int period = row.others.length;
      int[] times = new int[period];
      for (int i = 1; i < row.width - 1; i++) {
        times[i % period]++;
      }
      double largest = Math.abs(row.first);
      Map<Float, Integer> counts = new HashMap<>(Map.of(row.last, 1));
      largest = Math.max(largest, Math.abs(row.last));
      for (int k = 0; k < period; k++) {
        counts.merge(row.others[k], times[k], Integer::sum);
        largest = Math.max(largest, Math.abs(row.others[k]));
      }
      for (var entry : counts.entrySet()) {
        BigDecimal value = new BigDecimal(entry.getKey());
        sum = sum.add(value.multiply(new BigDecimal(entry.getValue())));
      }
      mean = sum.divide(count, DIGITS);
      BigDecimal first = new BigDecimal(row.first).subtract(mean).pow(2, DIGITS);
      BigDecimal squares = first;
      for (var entry : counts.entrySet()) {
        BigDecimal d = new BigDecimal(entry.getKey()).subtract(mean);
        squares = squares.add(d.pow(2).multiply(new BigDecimal(entry.getValue())));
      }
      BigDecimal variance = squares.divide(count, DIGITS);
      rstd = BigDecimal.ONE.divide(variance.sqrt(DIGITS), DIGITS);
      kappa = 1 + first.divide(variance, DIGITS).doubleValue();
      this.largest = largest;
    }
  }

  private static double superBlocks(int width) {
    return Math.ceil(width / 65536.0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1 << 10, 1 << 15, 1 << 16, 1 << 18, 1 << 20, (1 << 20) + 1, 1 << 24})
  void statisticsOfTheWorstRows(int width) {
    double blocks = superBlocks(width);
    for (Row row : rows(width)) {
      ExactRow exact = new ExactRow(row);
      double[] x = new double[width];
      for (int i = 0; i < width; i++) {
        x[i] = row.at(i);
      }
      double[] mean = new double[1];
      double[] rstd = new double[1];
      LayerNorm norm = LayerNorm.builder(width).epsilon(0).threads(1).build();
      norm.apply(Rows.of(x, width), Rows.of(new double[width], width), mean, rstd);
      double meanError = distance(mean[0], exact.mean) / (exact.largest * UNIT);
      double meanBound = 201 + 2 * blocks;
      double rstdError = distance(rstd[0], exact.rstd) / (exact.rstd.doubleValue() * UNIT);
      double rstdBound = 4 + exact.kappa * (151 + 1.5 * blocks);
      if (width > 1 << 20) {
        double ofMean = meanBound * exact.largest * UNIT * exact.rstd.doubleValue();
        rstdBound = 4 + (101 + blocks) / 2 + ofMean * ofMean / 2 / UNIT;
      }
      System.out.printf(
          "%d, %s: kappa %.3g, mean %.3g of %.3g, rstd %.3g of %.3g units%n",
          width, row.what, exact.kappa, meanError, meanBound, rstdError, rstdBound);
      assertThat(meanError).as("mean, %s", row.what).isLessThan(meanBound);
      assertThat(rstdError).as("rstd, %s", row.what).isLessThan(rstdBound);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1 << 10, 1 << 15, 1 << 16, 1 << 18, 1 << 20, (1 << 20) + 1, 1 << 24})
  void float32ResultsOfTheWorstRows(int width) {
    for (Row row : rows(width)) {
      ExactRow exact = new ExactRow(row);
      float[] x = new float[width];
      for (int i = 0; i < width; i++) {
        x[i] = row.at(i);
      }
      float[] y = new float[width];
      LayerNorm.builder(width).epsilon(0).build().apply(x, y);
      double roundings = ErrorBoundTest.layerNormRoundings(width);
      double rstd = exact.rstd.doubleValue();
      double mean = ErrorBoundTest.meanError(width) * exact.largest * rstd;
      double first = normalised(row.first, exact);
      double last = normalised(row.last, exact);
      double[] others = new double[row.others.length];
      Arrays.setAll(others, k -> normalised(row.others[k], exact));
      double worst = 0;
      for (int i = 0; i < width; i++) {
        double d = i == 0 ? first : i == width - 1 ? last : others[i % others.length];
        double allowed = roundings * 0x1p-24 * Math.abs(d) + 0x1p-148 + mean + 0x1p-150 * rstd;
        worst = Math.max(worst, Math.abs(y[i] - d) / allowed);
      }
      System.out.printf("%d, %s: at worst %.3f of the bound%n", width, row.what, worst);
      assertThat(worst).as("%d, %s", width, row.what).isLessThan(1);
    }
  }

  private static double normalised(float value, ExactRow exact) {
    BigDecimal d = new BigDecimal(value).subtract(exact.mean);
    return d.multiply(exact.rstd, DIGITS).doubleValue();
  }

  private static double distance(double computed, BigDecimal exact) {
    return exact.subtract(new BigDecimal(computed)).abs().doubleValue();
  }
}
