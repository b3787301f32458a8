package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.OutputKernel;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * One thread's way through a run of rows: read, one statistic, write.
 *
 * <p>Rows go in chunks that stay in the first-level cache, so that the second reading is free; a
 * row longer than a super-block goes in pieces of one.
 */
final class NormPass implements AutoCloseable {
  private final Workspace work;
  private final RowReader addedReader = new RowReader();
  private final ResidualSum residualSum = new ResidualSum();
  private final RowReader reader = new RowReader();
  private final RowWriter writer = new RowWriter();

  /** The rows that wait to be written while the next ones are read. */
  private final Rectangle before = new Rectangle();

  /** Rows between normalisation and gain, where they are rounded there. */
  private final Rectangle staged = new Rectangle();

  private NormCall call;
  private NormPlan plan;
  private int width;
  private int part;
  private Statistic statistic;

  /** For the residual; null without one. */
  private Workspace other;

  /** Null without a residual, or where that is added on the way. */
  private ResidualSum residual;

  /** What the rows that are read are to be increased by; null where the reader does it, or none. */
  private RowReader added;

  private NormPass(Workspace work) {
    this.work = work;
    work.forward = this;
  }

  /** A pass for a call, of nobody else's until it is closed. */
  static NormPass open(NormCall call, NormPlan plan) {
    Workspace work = Workspace.take();
    NormPass pass = work.forward == null ? new NormPass(work) : (NormPass) work.forward;
    pass.begin(call, plan);
    return pass;
  }

  private void begin(NormCall call, NormPlan plan) {
    this.call = call;
    this.plan = plan;
    NormChoices norm = call.choices();
    width = norm.width();
    part = norm.part();
    statistic = plan.roots;
    other = call.residual() == null ? null : Workspace.take();
    if (plan.adding != null) {
      added = addedReader;
      added.open(call.x(), plan.xCodec, work, null);
      reader.open(call.residual(), plan.residualCodec, other, null);
    } else {
      if (other != null) {
        residual = residualSum;
        residual.open(call, plan, work, other);
      }
      reader.open(call.x(), plan.xCodec, work, residual);
    }
    writer.open(call.y(), call.float64(), plan.yCodec, work);
  }

  /** Lets go of the call and gives back its workspaces, and with the first itself. */
  @Override
  public void close() {
    if (other != null) {
      other.giveBack();
      other = null;
    }
    if (added != null) {
      added.close();
      added = null;
    }
    if (residual != null) {
      residual.close();
      residual = null;
    }
    reader.close();
    writer.close();
    before.clear();
    staged.clear();
    call = null;
    plan = null;
    statistic = null;
    work.giveBack();
  }

  /** Normalises rows {@code from} to {@code to}. */
  void run(long from, long to) {
    int chunk = Math.clamp(Workspace.CHUNK / width, 1, Workspace.MAX_ROWS);
    if (plan.staggered != null && to - from >= 2L * chunk) {
      from = staggered(from, to, chunk);
    }
    for (long row = from; row < to; row += chunk) {
      if (width > RowSum.SUPER_BLOCK) {
        longRow(row);
      } else {
        chunk(row, (int) Math.min(chunk, to - row), added != null);
      }
    }
  }

  /** Whole chunks, of which each is summed while the one before is written; where they end. */
  private long staggered(long from, long to, int chunk) {
    boolean waits = false;
    long row = from;
    for (; row + chunk <= to; row += chunk) {
      if (waits) {
        before.copy(reader.rows);
        writer.place(row - chunk, 0, chunk, width);
        Rectangle read = reader.read(row, 0, chunk, width);
        Rectangle x = added == null ? read : added.read(row, 0, chunk, width);
        Rectangle residual = added == null ? null : read;
        float[] gain = (float[]) call.gain();
        float[] bias = (float[]) call.bias();
        plan.staggered.rows(x, residual, chunk, width, before, writer.rows, gain, bias, work);
      } else {
        sums(row, chunk, added != null);
      }
      waits = !statistics(row, chunk);
      if (waits) {
        keep(row, chunk, false);
      } else {
        outOfRange(row, chunk);
      }
    }
    if (waits) {
      write(row - chunk, 0, chunk, width, false);
    }
    return row;
  }

  private void chunk(long row, int rows, boolean add) {
    sums(row, rows, add);
    if (statistics(row, rows)) {
      outOfRange(row, rows);
    } else {
      keep(row, rows, false);
      write(row, 0, rows, width, false);
    }
  }

  private void sums(long row, int rows, boolean add) {
    Rectangle x = reader.read(row, 0, rows, width);
    if (add) {
      plan.adding.rows(added.read(row, 0, rows, width), x, rows, width, work);
    } else {
      plan.statistic.rows(x, null, rows, part, work);
    }
  }

  /** Rows of which one leaves the range of its arithmetic: each by itself. */
  private void outOfRange(long row, int rows) {
    if (rows == 1) {
      keep(row, 1, true);
      write(row, 0, 1, width, true);
      return;
    }
    for (int r = 0; r < rows; r++) {
      chunk(row + r, 1, false);
    }
  }

  private void longRow(long row) {
    LongRow.sums(plan.statistic, reader, row, call.choices(), work);
    boolean wide = statistics(row, 1);
    keep(row, 1, wide);
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      int columns = (int) Math.min(RowSum.SUPER_BLOCK, width - column);
      reader.read(row, column, 1, columns);
      write(row, column, 1, columns, wide);
    }
  }

  /** From sums to mean and rstd; true where a row needs the formula for wide ranges. */
  private boolean statistics(long row, int rows) {
    statistic.of(work, rows, part);
    if (!call.float64()) {
      return statistic.roundToFloat32(work, rows);
    }
    for (int r = 0; r < rows; r++) {
      if (Rescaled.needed(work.sums[r], work.squares[r], call.choices())) {
        return rows > 1 || Rescaled.statistic(call.choices(), statistic, row, reader, work);
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
    if (residual != null) {
      residual.store(row, column, rows, columns);
    }
    writer.place(row, column, rows, columns);
    Rectangle x = reader.rows;
    Rectangle y = writer.rows;
    int c = (int) column;
    if (wide) {
      WideRange.write(call, x, y, c, columns, work);
    } else if (plan.scale == null) {
      output(plan.normalise, x, y, rows, c, columns, call.gain(), call.bias());
    } else {
      staged.packed(work, false, rows, columns);
      output(plan.normalise, x, staged, rows, c, columns, null, null);
      int n = rows * columns;
      plan.rounding.round(work.floats(n), work.shorts(n), n);
      output(plan.scale, staged, y, rows, c, columns, call.gain(), call.bias());
    }
    writer.finish(row, column, rows, columns);
  }

  private void output(
      OutputKernel kernel,
      Rectangle x,
      Rectangle y,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias) {
    kernel.rows(
        x.base, x.offset, x.stride, y.base, y.offset, y.stride, rows, column, columns, gain, bias,
        work);
  }
}
