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
  private final RowReader reader = new RowReader();
  private boolean float64;
  private ResidualRounding rounding;
  private RowMemory residual;
  private NarrowCodec codec;
  private SumKernel sum;
  private Workspace work;

  /**
   * Begins with the sums of a call.
   *
   * @param work takes the sums; the workspace of the rows that they are made of
   * @param other takes the residual where it is staged
   */
  void open(NormCall call, NormPlan plan, Workspace work, Workspace other) {
    float64 = call.float64();
    rounding = call.choices().residual();
    residual = call.residual();
    codec = plan.residualCodec;
    sum = plan.sum;
    this.work = work;
    reader.open(residual, codec, other, null);
  }

  /** Lets go of the residual. */
  void close() {
    residual = null;
    work = null;
    reader.close();
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
