package io.github.rmsnorm4j.cli;

/**
 * Quantiles of any number of values that are not negative, in bounded memory: a histogram whose
 * bins are 1/1024 of a power of two wide and know the mean of what fell into them. A quantile is
 * right to 0.1 %, the least and the greatest value and those alone in their bin exactly. Bins of a
 * power of two are made when it is first seen.
 */
final class Quantiles {
  private static final int MANTISSA_BITS = 10;
  private static final int BINS = 1 << MANTISSA_BITS;
  private static final int EXPONENTS = 1 << 11;

  private final long[][] counts = new long[EXPONENTS][];
  private final double[][] means = new double[EXPONENTS][];
  private long count;
  private double least = Double.POSITIVE_INFINITY;
  private double greatest;

  /** Counts a value, finite and not negative. */
  void add(double value) {
    // Bits of doubles that are not negative are ordered as the doubles are.
    int bin = (int) (Double.doubleToRawLongBits(value) >>> 52 - MANTISSA_BITS);
    int exponent = bin / BINS;
    int i = bin % BINS;
    if (counts[exponent] == null) {
      counts[exponent] = new long[BINS];
      means[exponent] = new double[BINS];
    }
    counts[exponent][i]++;
    means[exponent][i] += (value - means[exponent][i]) / counts[exponent][i];
    count++;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }

  /** How many values have been counted. */
  long count() {
    return count;
  }

  /** The value below which so much of the others are, 0 for the least, 1 for the greatest. */
  double at(double fraction) {
    long rank = Math.round(fraction * (count - 1));
    if (rank == 0 || rank == count - 1) {
      return rank == 0 ? least : greatest;
    }
    long passed = 0;
    for (int exponent = 0; exponent < EXPONENTS; exponent++) {
      for (int i = 0; counts[exponent] != null && i < BINS; i++) {
        passed += counts[exponent][i];
        if (passed > rank) {
          return means[exponent][i];
        }
      }
    }
    throw new IllegalStateException("no quantile of no values");
  }
}
