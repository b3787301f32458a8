package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.formula.Forward;
import org.jspecify.annotations.Nullable;

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
  @Nullable Object gain(@Nullable Object values, int part) {
    return part(values, part, gain);
  }

  /** A part of a bias, as that of a gain. */
  @Nullable Object bias(@Nullable Object values, int part) {
    return part(values, part, bias);
  }

  private @Nullable Object part(@Nullable Object values, int part, Staging staging) {
    if (values == null) {
      return null;
    }
    Object of = values instanceof double[] ? staging.doubles(width) : staging.floats(width);
    System.arraycopy(values, part * width, of, 0, width);
    return of;
  }

  /**
   * Mean and rstd of the rows of a part, by place, until the next ones are asked for; null for
   * null.
   *
   * @param first which of all numbers is the first
   * @param step from one number to the next
   * @param n how many
   */
  double @Nullable [] @Nullable [] numbers(
      double @Nullable [] @Nullable [] all, long first, int step, long n) {
    if (all == null) {
      return null;
    }
    double[] @Nullable [] ofPart = new double[all.length][];
    int mean = Forward.MEAN.place();
    int rstd = Forward.RSTD.place();
    ofPart[mean] = every(all[mean], first, step, n, this.mean);
    ofPart[rstd] = every(all[rstd], first, step, n, this.rstd);
    return ofPart;
  }

  private static double @Nullable [] every(
      double @Nullable [] numbers, long first, int step, long n, Staging staging) {
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
