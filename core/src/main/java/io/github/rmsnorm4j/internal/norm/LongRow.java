package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.StatisticKernel;
import io.github.rmsnorm4j.internal.kernel.Workspace;
import java.util.Arrays;

/** The row sums of a row longer than a super-block, piece by piece. */
final class LongRow {
  /** LayerNorm rows longer than this take two passes: the mean, then the centred squares. */
  static final int ONE_PASS = 1 << 20;

  private LongRow() {}

  /** Leaves shift, sums and squares first in the workspace. */
  static void sums(
      StatisticKernel statistic, RowReader reader, long row, NormChoices norm, Workspace work) {
    if (!norm.centred()) {
      sums(statistic, reader, row, norm.part(), 0.0, work);
      return;
    }
    boolean float64 = reader.float64();
    double first = reader.read(row, 0, 1, 1).get(float64, 0);
    sums(statistic, reader, row, norm.width(), first, work);
    if (norm.width() > ONE_PASS) {
      double mean = work.shift[0] + work.sums[0] / norm.width();
      sums(statistic, reader, row, norm.width(), mean, work);
      work.sums[0] = 0.0;
    }
  }

  private static void sums(
      StatisticKernel statistic, RowReader reader, long row, int n, double shift, Workspace work) {
    Arrays.fill(work.rowSums, 0.0);
    Arrays.fill(work.rowSquares, 0.0);
    for (long column = 0; column < n; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, n - column);
      Rectangle x = reader.read(row, column, 1, columns);
      statistic.superBlock(x, columns, shift, work);
    }
    work.shift[0] = shift;
    work.sums[0] = RowSum.tree(work.rowSums, 0);
    work.squares[0] = RowSum.tree(work.rowSquares, 0);
  }
}
