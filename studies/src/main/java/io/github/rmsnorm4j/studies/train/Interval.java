package io.github.rmsnorm4j.studies.train;

import java.util.Arrays;
import org.apache.commons.statistics.distribution.TDistribution;

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
  /** The probability of each of the two tails outside of the interval. */
  private static final double TAIL = 0.025;

  /** Of any number of values, all NaN for none. */
  public static Interval of(double... values) {
    int n = values.length;
    double mean = Arrays.stream(values).average().orElse(Double.NaN);
    if (n < 2) {
      return new Interval(mean, Double.NaN, Double.NaN, Double.NaN, n);
    }
    double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    double deviation = Math.sqrt(squares / (n - 1));
    double t = TDistribution.of(n - 1).inverseSurvivalProbability(TAIL);
    double half = t * deviation / Math.sqrt(n);
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
