package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * The statistic of a float64 row whose squares leave the range of float64: summed again with every
 * element times 2^600 or 2^-600, which is exact.
 */
final class Rescaled {
  private static final double UP = 0x1p600;
  private static final double DOWN = 0x1p-600;

  /** Sums below this have lost digits, unless epsilon hides it. */
  private static final double TINY_SUM = 0x1p-900;

  private static final double TINY_EPSILON = 0x1p-840;

  private Rescaled() {}

  /** Whether the sums of a row, as they are, cannot be used. */
  static boolean needed(double sum, double squares, NormCall call) {
    boolean finite = Double.isFinite(squares) && (!call.centred() || Double.isFinite(sum * sum));
    return !finite || squares < TINY_SUM && call.epsilon() < TINY_EPSILON;
  }

  /**
   * Sums the row again and leaves its statistic first in the workspace.
   *
   * @return whether the row must be written by {@link WideRange}: with {@code work.scale}, x0 in
   *     {@code work.shift[0]} and the mean of (x - x0) * scale in {@code work.sums[0]}
   */
  static boolean statistic(NormCall call, long row, RowReader reader, Workspace work) {
    double scale = work.squares[0] < TINY_SUM ? UP : DOWN;
    int n = call.width();
    double x0 = 0.0;
    double mean = 0.0; // Of (x - x0) * scale: the row's own may be too small a number to be exact.
    if (call.centred()) {
      reader.read(row, 0, 1, 1);
      x0 = call.x().memory().get(true, reader.base, reader.offset, 0);
      sum(call, row, reader, x0, mean, scale, work);
      mean = work.sums[0] / n;
    }
    if (!call.centred() || n > NormPass.ONE_PASS) {
      sum(call, row, reader, x0, mean, scale, work);
      work.sums[0] = 0.0;
    }
    double s1 = work.sums[0];
    double s2 = work.squares[0];
    if (!Double.isFinite(s2)) {
      return false; // The row itself is not finite: the formula's own result stands.
    }
    double variance = Math.max(0.0, (s2 - s1 * s1 / n) / n);
    double rstd = 1.0 / Math.sqrt(variance + call.epsilon() * scale * scale);
    double unscaled = rstd * scale;
    boolean normal = unscaled >= Double.MIN_NORMAL && unscaled <= Double.MAX_VALUE;
    boolean wide = !normal || call.centred() && scale == DOWN;
    work.shift[0] = x0;
    work.sums[0] = mean;
    work.mean[0] = scale == UP ? x0 + mean * DOWN : (x0 * DOWN + mean) * UP;
    work.scale = scale;
    work.rstd[0] = wide ? rstd : unscaled;
    return wide;
  }

  /** Sums of (x - x0) * scale - mean and of its square, first in the workspace. */
  private static void sum(
      NormCall call,
      long row,
      RowReader reader,
      double x0,
      double mean,
      double scale,
      Workspace work) {
    Memory in = call.x().memory();
    RowSum sum = new RowSum();
    RowSum squares = new RowSum();
    for (long column = 0; column < call.width(); column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, call.width() - column);
      reader.read(row, column, 1, columns);
      for (int i = 0; i < columns; i++) {
        double v = in.get(true, reader.base, reader.offset, i);
        double term = difference(v, x0, scale) - mean;
        sum.add(term);
        squares.add(term * term);
      }
    }
    work.sums[0] = sum.total();
    work.squares[0] = squares.total();
  }

  /** (x - taken) * scale without overflow: scaled first where that makes it smaller. */
  static double difference(double x, double taken, double scale) {
    return scale < 1.0 ? x * scale - taken * scale : (x - taken) * scale;
  }
}
