package io.github.rmsnorm4j.cli;

/**
 * Quantiles of any number of values that are not negative, in bounded memory: a histogram whose
 * bins are 1/1024 of a power of two wide, so that a quantile is right to 0.05 % (and the least and
 * the greatest value exactly). Bins of a power of two are made when it is first seen.
 */
final class Quantiles {
  private static final int MANTISSA_BITS = 10;
  private static final int EXPONENTS = 1 << 11;
  private static final int SHIFT = 52 - MANTISSA_BITS;

  private final long[][] bins = new long[EXPONENTS][];
  private long count;
  private double least = Double.POSITIVE_INFINITY;
  private double greatest;

  /** Counts a value, finite and not negative. */
  void add(double value) {
    // Bits of doubles that are not negative are ordered as these are.
    int bin = (int) (Double.doubleToRawLongBits(value) >>> SHIFT);
    int exponent = bin >>> MANTISSA_BITS;
    if (bins[exponent] == null) {
      bins[exponent] = new long[1 << MANTISSA_BITS];
    }
    bins[exponent][bin & (1 << MANTISSA_BITS) - 1]++;
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
    if (rank == 0) {
      return least;
    }
    long passed = 0;
    for (int exponent = 0; exponent < EXPONENTS; exponent++) {
      for (int i = 0; bins[exponent] != null && i < bins[exponent].length; i++) {
        passed += bins[exponent][i];
        if (passed > rank) {
          return Math.clamp(middle(exponent << MANTISSA_BITS | i), least, greatest);
        }
      }
    }
    throw new IllegalStateException("no quantile of no values");
  }

  private double middle(int bin) {
    return Double.longBitsToDouble(((long) bin << SHIFT) + (1L << SHIFT - 1));
  }
}
