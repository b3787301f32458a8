package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/** The row sums of one row of any width, super-block by super-block. */
final class LongRow {
  /** LayerNorm rows longer than this take two passes: the mean, then the centred squares. */
  static final int ONE_PASS = 1 << 20;

  /** Points the frame at columns of the row. */
  interface Columns {
    void read(long row, long column, int rows, int columns);
  }

  private final Frame frame;
  private final Columns columns;
  private long row;

  LongRow(Frame frame, Columns columns) {
    this.frame = frame;
    this.columns = columns;
  }

  /** Chooses a row. */
  LongRow at(long row) {
    this.row = row;
    return this;
  }

  /** Runs a kernel on the row's first element. */
  void first(Kernel first) {
    columns.read(row, 0, 1, 1);
    first.run(frame, 1, 0, 1);
  }

  /** Stores the sums of the first n elements as numbers of the first row. */
  void sums(Kernel sums, int n) {
    RowSum.open(frame);
    for (long column = 0; column < n; column += RowSum.SUPER_BLOCK) {
      int length = (int) Math.min(RowSum.SUPER_BLOCK, n - column);
      columns.read(row, column, 1, length);
      frame.moveColumns((int) column);
      sums.superBlock(frame, length);
    }
    sums.close(frame);
    frame.moveColumns(0);
  }

  /** Computes the sums of the statistic. */
  void statistic(Statistic kernels, NormChoices norm) {
    if (kernels.shift() != null) {
      first(kernels.shift());
    }
    sums(kernels.pieces(), norm.part());
    if (norm.isCentred() && norm.width() > ONE_PASS) {
      double[] shift = frame.of(Forward.SHIFT);
      double[] sum = frame.of(Forward.SUM);
      shift[0] += sum[0] / norm.width();
      sums(kernels.pieces(), norm.width());
      sum[0] = 0.0;
    }
  }
}
