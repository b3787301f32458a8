package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Staging;

/**
 * What the backward pass of one group of each row reads: its part of gain and bias, and the numbers
 * of its rows. They are copied to arrays that are kept from call to call.
 */
final class GroupParts implements AutoCloseable {
  private final int groups;
  private final int width;
  private final Staging gain = Staging.take();
  private final Staging bias = Staging.take();
  private final Staging mean = Staging.take();
  private final Staging rstd = Staging.take();

  /**
   * An object for one call.
   *
   * @param groups of a row
   * @param width elements of a group
   */
  GroupParts(int groups, int width) {
    this.groups = groups;
    this.width = width;
  }

  @Override
  public void close() {
    gain.giveBack();
    bias.giveBack();
    mean.giveBack();
    rstd.giveBack();
  }

  /** The part of a gain, float[] or double[], until the next group; null for null. */
  Object gain(Object values, int group) {
    return part(values, group, gain);
  }

  /** The part of a bias, as that of a gain. */
  Object bias(Object values, int group) {
    return part(values, group, bias);
  }

  private Object part(Object values, int group, Staging staging) {
    if (values == null) {
      return null;
    }
    Object part = values instanceof double[] ? staging.doubles(width) : staging.floats(width);
    System.arraycopy(values, group * width, part, 0, width);
    return part;
  }

  /** The mean of a group in each row, until the next group; null for null. */
  double[] mean(double[] numbers, int group, long rows) {
    return ofGroup(numbers, group, rows, mean);
  }

  /** The rstd of a group in each row, until the next group; null for null. */
  double[] rstd(double[] numbers, int group, long rows) {
    return ofGroup(numbers, group, rows, rstd);
  }

  private double[] ofGroup(double[] numbers, int group, long rows, Staging staging) {
    if (numbers == null) {
      return null;
    }
    double[] of = staging.doubles((int) rows);
    for (int row = 0; row < rows; row++) {
      of[row] = numbers[row * groups + group];
    }
    return of;
  }
}
