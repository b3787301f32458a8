package io.github.rmsnorm4j.models.rows;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * Quantiles of any number of values that are not negative, in bounded memory.
 *
 * <p>Up to {@value #EXACT} values are kept, and a quantile between two of them is interpolated.
 * More go into a histogram whose bins are 1/1024 of a power of two wide and know the mean of what
 * fell into them; a quantile is then that of the nearest rank, right to 0.1 %, and the least and
 * the greatest value exactly.
 */
public final class Quantiles {
  /** How many values are kept. */
  public static final int EXACT = 1 << 16;

  private static final int MANTISSA_BITS = 10;
  private static final int BINS = 1 << MANTISSA_BITS;
  private static final int EXPONENTS = 1 << 11;

  /** All values while they are few, sorted as far as {@link #sorted} says; then null. */
  private double[] values = new double[16];

  private boolean sorted;

  /** Bins of a power of two are made when it is first seen. */
  private final long[][] counts = new long[EXPONENTS][];

  private final double[][] means = new double[EXPONENTS][];
  private long count;
  private double least = Double.POSITIVE_INFINITY;
  private double greatest;

  /** Of no values. */
  public Quantiles() {}

  /**
   * Counts a value.
   *
   * @param value finite and not negative
   */
  public void add(double value) {
    if (count == EXACT) {
      Arrays.stream(values).forEach(this::addToBin);
      values = null;
    }
    if (count >= EXACT) {
      addToBin(value);
    } else {
      int index = (int) count;
      if (index == values.length) {
        values = Arrays.copyOf(values, 2 * index);
      }
      values[index] = value;
      sorted = false;
    }
    count++;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }

  private void addToBin(double value) {
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
  }

  /** {@return how many values have been counted} */
  public long count() {
    return count;
  }

  /**
   * {@return a quantile of what an increasing function makes of the values}
   *
   * @param fraction how much of the values are below it: 0 for the least, 1 for the greatest
   * @param of the function
   */
  public double at(double fraction, DoubleUnaryOperator of) {
    return count <= EXACT ? interpolated(fraction, of) : of.applyAsDouble(nearest(fraction));
  }

  private double interpolated(double fraction, DoubleUnaryOperator of) {
    if (!sorted) {
      Arrays.sort(values, 0, (int) count);
      sorted = true;
    }
    double rank = fraction * (count - 1);
    int below = (int) rank;
    double lower = of.applyAsDouble(values[below]);
    double upper = of.applyAsDouble(values[(int) Math.min(below + 1, count - 1)]);
    return lower + (rank - below) * (upper - lower);
  }

  private double nearest(double fraction) {
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
