package io.github.rmsnorm4j.measure;

import java.util.List;

/**
 * What one thing took, a number per round.
 *
 * @param nanos nanoseconds per call
 */
public record Samples(List<Double> nanos) {
  /**
   * Made of at least one round.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Samples {
    if (nanos.isEmpty()) {
      throw new IllegalArgumentException("nanos is empty, it must hold a number per round");
    }
    nanos = List.copyOf(nanos);
  }

  /**
   * The middle one, or the mean of the two in the middle.
   *
   * @return nanoseconds per call
   */
  public double median() {
    return median(nanos);
  }

  /**
   * The shortest.
   *
   * @return nanoseconds per call
   */
  public double lowest() {
    return nanos.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
  }

  /**
   * The longest.
   *
   * @return nanoseconds per call
   */
  public double highest() {
    return nanos.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
  }

  /**
   * Median over median: a neighbour's noise in one round moves neither.
   *
   * @param baseline what it is compared with, of the same rounds
   * @return how many times as long this took
   */
  public double over(Samples baseline) {
    return median() / baseline.median();
  }

  /**
   * The middle one of any numbers, or the mean of the two in the middle.
   *
   * @param values at least one
   * @return their median
   */
  public static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
