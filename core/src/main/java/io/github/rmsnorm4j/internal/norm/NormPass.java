package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.OutputKernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Statistic;
import io.github.rmsnorm4j.internal.kernel.StatisticKernel;
import io.github.rmsnorm4j.internal.kernel.Workspace;
import java.util.Arrays;

/**
 * One thread's way through a run of rows: read, one statistic, write.
 *
 * <p>Rows go in chunks that stay in the first-level cache, so that the second reading is free; a
 * row longer than a super-block goes in pieces of one.
 */
final class NormPass {
  /** LayerNorm rows longer than this take two passes: the mean, then the centred squares. */
  static final int ONE_PASS = 1 << 20;

  private final NormCall call;
  private final int width;
  private final Memory in;
  private final StatisticKernel statistic;
  private final OutputKernel output;
  private final Workspace work;
  private final RowReader reader;
  private final RowWriter writer;

  NormPass(NormCall call, Workspace work) {
    this.call = call;
    this.work = work;
    width = call.width();
    in = call.x().memory();
    Memory out = call.y().memory();
    int bits = call.vectorBits();
    boolean centred = call.centred();
    boolean gain = call.gain() != null;
    boolean bias = call.bias() != null;
    boolean narrow = width <= StatisticKernel.NARROW;
    statistic =
        StatisticKernel.of(new StatisticKernel.Spec(call.float64(), bits, in, centred, narrow));
    output =
        OutputKernel.of(new OutputKernel.Spec(call.float64(), bits, in, out, centred, gain, bias));
    reader = new RowReader(call.x(), bits, work);
    writer = new RowWriter(call, work);
  }

  /** Normalises rows {@code from} to {@code to}. */
  void run(long from, long to) {
    int chunk = Math.clamp(Workspace.CHUNK / width, 1, Workspace.MAX_ROWS);
    for (long row = from; row < to; row += chunk) {
      if (width > RowSum.SUPER_BLOCK) {
        longRow(row);
      } else {
        chunk(row, (int) Math.min(chunk, to - row));
      }
    }
  }

  private void chunk(long row, int rows) {
    reader.read(row, 0, rows, width);
    statistic.rows(reader.base, reader.offset, reader.stride, rows, width, work);
    boolean wide = statistics(row, rows);
    if (wide && rows > 1) {
      // A row leaves the range of its arithmetic: each by itself, nothing is written yet.
      for (int r = 0; r < rows; r++) {
        chunk(row + r, 1);
      }
      return;
    }
    keep(row, rows, wide);
    write(row, 0, rows, width, wide);
  }

  private void longRow(long row) {
    reader.read(row, 0, 1, 1);
    double first = in.get(call.float64(), reader.base, reader.offset, 0);
    sumPieces(row, call.centred() ? first : 0.0);
    if (call.centred() && width > ONE_PASS) {
      sumPieces(row, work.shift[0] + work.sums[0] / width);
      work.sums[0] = 0.0;
    }
    boolean wide = statistics(row, 1);
    keep(row, 1, wide);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      reader.read(row, column, 1, columns);
      write(row, column, 1, columns, wide);
    }
  }

  /** The row sums of a long row, super-block by super-block. */
  private void sumPieces(long row, double shift) {
    Arrays.fill(work.rowSums, 0.0);
    Arrays.fill(work.rowSquares, 0.0);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      reader.read(row, column, 1, columns);
      statistic.superBlock(reader.base, reader.offset, columns, shift, work);
    }
    work.shift[0] = shift;
    work.sums[0] = RowSum.tree(work.rowSums, 0);
    work.squares[0] = RowSum.tree(work.rowSquares, 0);
  }

  /** From sums to mean and rstd; true where a row needs the formula for wide ranges. */
  private boolean statistics(long row, int rows) {
    if (call.centred()) {
      Statistic.centred(work, rows, width, call.epsilon());
    } else {
      Statistic.rms(work.squares, work.rstd, rows, width, call.epsilon());
    }
    if (!call.float64()) {
      return Statistic.roundToFloat32(work, rows, call.centred());
    }
    for (int r = 0; r < rows; r++) {
      if (Rescaled.needed(work.sums[r], work.squares[r], call)) {
        return rows > 1 || Rescaled.statistic(call, row, reader, work);
      }
    }
    return false;
  }

  private void keep(long row, int rows, boolean wide) {
    if (call.mean() != null) {
      System.arraycopy(work.mean, 0, call.mean(), (int) row, rows);
    }
    if (call.rstd() != null) {
      System.arraycopy(work.rstd, 0, call.rstd(), (int) row, rows);
      if (wide) {
        call.rstd()[(int) row] *= work.scale;
      }
    }
  }

  private void write(long row, long column, int rows, int columns, boolean wide) {
    writer.place(row, column, rows, columns);
    if (wide) {
      WideRange.write(call, reader, writer, (int) column, columns, work);
    } else {
      output.rows(
          reader.base,
          reader.offset,
          reader.stride,
          writer.base,
          writer.offset,
          writer.stride,
          rows,
          (int) column,
          columns,
          call.gain(),
          call.bias(),
          work);
    }
    writer.finish(row, column, rows, columns);
  }
}
