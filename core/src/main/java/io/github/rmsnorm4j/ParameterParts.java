package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;

/**
 * What the backward pass of one group of each row, or of one sample, reads: its part of gain and
 * bias, and the numbers of its rows. They are copied to arrays that are kept from call to call.
 */
final class ParameterParts implements AutoCloseable {
  private final int width;
  private final Staging gain = Staging.take();
  private final Staging bias = Staging.take();
  private final Staging mean = Staging.take();
  private final Staging rstd = Staging.take();

  /**
   * An object for one call.
   *
   * @param width elements of each
   */
  ParameterParts(int width) {
    this.width = width;
  }

  @Override
  public void close() {
    gain.giveBack();
    bias.giveBack();
    mean.giveBack();
    rstd.giveBack();
  }

  /** A part of a gain, float[] or double[], until the next one is asked for; null for null. */
  Object gain(Object values, int part) {
    return part(values, part, gain);
  }

  /** A part of a bias, as that of a gain. */
  Object bias(Object values, int part) {
    return part(values, part, bias);
  }

  private Object part(Object values, int part, Staging staging) {
    if (values == null) {
      return null;
    }
    Object of = values instanceof double[] ? staging.doubles(width) : staging.floats(width);
    System.arraycopy(values, part * width, of, 0, width);
    return of;
  }

  /**
   * The means of the rows of a part, until the next ones are asked for; null for null.
   *
   * @param first which of all numbers is the first
   * @param step from one number to the next
   * @param n how many
   */
  double[] mean(double[] numbers, long first, int step, long n) {
    return every(numbers, first, step, n, mean);
  }

  /** The rstd of each row of a part, as its mean. */
  double[] rstd(double[] numbers, long first, int step, long n) {
    return every(numbers, first, step, n, rstd);
  }

  private static double[] every(double[] numbers, long first, int step, long n, Staging staging) {
    if (numbers == null) {
      return null;
    }
    double[] every = staging.doubles((int) n);
    for (int i = 0; i < n; i++) {
      every[i] = numbers[(int) first + i * step];
    }
    return every;
  }
}
