package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
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

  /** The same for an epsilon beside the root, and not under it. */
  private static final double TINY_OUTSIDE = 0x1p-380;

  private Rescaled() {}

  /** Whether the sums of a row, as they are, cannot be used. */
  static boolean needed(double sum, double squares, NormChoices norm) {
    boolean finite = Double.isFinite(squares) && (!norm.centred() || Double.isFinite(sum * sum));
    double tiny = norm.placement() == EpsilonPlacement.INSIDE ? TINY_EPSILON : TINY_OUTSIDE;
    return !finite || squares < TINY_SUM && norm.epsilon() < tiny;
  }

  /**
   * Sums the row again and leaves its statistic first in the workspace. A staged row that was read
   * whole is there as before.
   *
   * @return whether the row must be written by {@link WideRange}: with {@code work.scale}, x0 in
   *     {@code work.shift[0]} and the mean of (x - x0) * scale in {@code work.sums[0]}
   */
  static boolean statistic(
      NormChoices norm, Statistic statistic, long row, RowReader reader, Workspace work) {
    boolean centred = norm.centred();
    double scale = work.squares[0] < TINY_SUM ? UP : DOWN;
    int n = norm.part();
    double x0 = 0.0;
    double mean = 0.0; // Of (x - x0) * scale: the row's own may be too small a number to be exact.
    if (centred) {
      x0 = reader.read(row, 0, 1, 1).get(true, 0);
      sum(n, row, reader, x0, mean, scale, work);
      mean = work.sums[0] / n;
    }
    if (!centred || n > LongRow.ONE_PASS) {
      sum(n, row, reader, x0, mean, scale, work);
      work.sums[0] = 0.0;
    }
    double s1 = work.sums[0];
    double s2 = work.squares[0];
    if (!Double.isFinite(s2)) {
      return false; // The row itself is not finite: the formula's own result stands.
    }
    double variance = Math.max(0.0, (s2 - s1 * s1 / n) / n);
    double root = statistic.root(variance, scale);
    double rstd = 1.0 / root;
    double unscaled = rstd * scale;
    boolean normal = unscaled >= Double.MIN_NORMAL && unscaled <= Double.MAX_VALUE;
    boolean wide = !normal || centred && scale == DOWN;
    work.shift[0] = x0;
    work.sums[0] = mean;
    work.mean[0] = scale == UP ? x0 + mean * DOWN : (x0 * DOWN + mean) * UP;
    work.scale = scale;
    work.rstd[0] = wide ? rstd : unscaled;
    work.root[0] = wide ? root : root / scale;
    return wide;
  }

  /** Sums of (x - x0) * scale - mean and of its square, first in the workspace. */
  private static void sum(
      int n, long row, RowReader reader, double x0, double mean, double scale, Workspace work) {
    RowSum sum = new RowSum();
    RowSum squares = new RowSum();
    for (long column = 0; column < n; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, n - column);
      Rectangle x = reader.read(row, column, 1, columns);
      for (int i = 0; i < columns; i++) {
        double v = x.get(true, i);
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
