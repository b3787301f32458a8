package io.github.rmsnorm4j.studies.train;

import java.util.Arrays;

/**
 * A mean and its 95 % confidence interval by Student's t, which takes the values for independent
 * and about normal.
 *
 * @param mean of the values
 * @param deviation their standard deviation, by n - 1; NaN for fewer than two
 * @param low end of the interval; NaN for fewer than two values
 * @param high its other end
 * @param values how many there were
 */
public record Interval(double mean, double deviation, double low, double high, int values) {
  /** Student's t at 97.5 % for 1 to 30 degrees of freedom. */
  private static final double[] T = {
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788,
    2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
    2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423
  };

  /**
   * Of any number of values, all NaN for none; of more than 31 the t of 31 is taken, which is the
   * wider.
   */
  public static Interval of(double... values) {
    int n = values.length;
    double mean = Arrays.stream(values).average().orElse(Double.NaN);
    if (n < 2) {
      return new Interval(mean, Double.NaN, Double.NaN, Double.NaN, n);
    }
    double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    double deviation = Math.sqrt(squares / (n - 1));
    double half = T[Math.min(n - 1, T.length) - 1] * deviation / Math.sqrt(n);
    return new Interval(mean, deviation, mean - half, mean + half, n);
  }

  /** Whether 0 is outside. */
  boolean excludesZero() {
    return low > 0 || high < 0;
  }

  /** The larger magnitude of its two ends. */
  double farthest() {
    return Math.max(Math.abs(low), Math.abs(high));
  }
}
