package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.SumKernel;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * Rows with their residual added, in the workspace. What is read can be read again: the residual
 * gets the sum only when the statistic is known.
 */
final class ResidualSum {
  private final boolean float64;
  private final ResidualRounding rounding;
  private final RowMemory residual;
  private final NarrowCodec codec;
  private final SumKernel sum;
  private final Workspace work;
  private final RowReader reader;

  /**
   * The sums of a call.
   *
   * @param work takes the sums; the workspace of the rows that they are made of
   * @param other takes the residual where it is staged
   */
  ResidualSum(NormCall call, NormPlan plan, Workspace work, Workspace other) {
    float64 = call.float64();
    rounding = call.choices().residual();
    residual = call.residual();
    codec = plan.residualCodec;
    sum = plan.sum;
    this.work = work;
    reader = new RowReader(residual, codec, other, null);
  }

  /** Adds the residual to a rectangle of rows, which from then on is the sum. */
  void addTo(Rectangle x, long row, long column, int rows, int columns) {
    Rectangle added = reader.read(row, column, rows, columns);
    int n = rows * columns;
    sum.rows(
        x.base,
        x.offset,
        x.stride,
        added.base,
        added.offset,
        added.stride,
        rows,
        columns,
        float64 ? work.doubles(n) : work.floats(n));
    x.packed(work, float64, rows, columns);
    if (rounding == ResidualRounding.FIRST) {
      round(n);
    }
  }

  /**
   * Writes the sums read last to the residual, and rounds them if the output is of rounded sums.
   */
  void store(long row, long column, int rows, int columns) {
    long at = row * residual.stride() + column * residual.type().bytes();
    if (rounding == ResidualRounding.BETWEEN) {
      round(rows * columns);
    }
    if (float64) {
      Stage.storeDoubles(residual, at, rows, columns, codec, work);
    } else {
      Stage.storeFloats(residual, at, rows, columns, codec, work);
    }
  }

  /** To the residual's type, if that is of 16 bits; otherwise it is the arithmetic's own. */
  private void round(int n) {
    if (codec != null) {
      codec.round(work.floats(n), work.shorts(n), n);
    }
  }
}
