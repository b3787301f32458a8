package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.StagedRows;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;

/** Sums each whole chunk of rows while it writes the chunk before. */
final class StaggeredRows implements Worker {
  /**
   * From this number of chunks on, the first and the last take the staggered kernel too. Kernels
   * for these two alone would run too rarely to be compiled.
   */
  private static final int MANY_CHUNKS = 32;

  /** What is kept with the frame of the rows that are summed. */
  private static final class Other implements Frame.Own {
    /** The rows whose output is written while the next rows are read. */
    final Frame before;

    final Scratch scratch = new Scratch();

    Other(Frame frame) {
      before = new Frame(frame);
    }

    @Override
    public void close() {
      scratch.close();
    }
  }

  private final StagedRows rows;
  private final Call call;
  private final VectorKernel kernel;
  private final Frame frame;
  private final int width;
  private Other other;

  /** Whether every chunk takes the staggered kernel. */
  private boolean many;

  StaggeredRows(StagedRows rows, Call call, VectorKernel kernel) {
    this.rows = rows;
    this.call = call;
    this.kernel = kernel;
    frame = rows.frame();
    width = call.choices().width();
  }

  /** Takes the other frame, which has the same columns. */
  private void takeOther() {
    if (frame.own == null) {
      frame.own = new Other(frame);
    }
    other = (Other) frame.own;
    other.before.shareColumns(frame);
  }

  @Override
  public void close() {
    if (other != null) {
      other.before.clear();
    }
    rows.close();
  }

  @Override
  public int stoppedAt(Frame into) {
    return rows.stoppedAt(into);
  }

  @Override
  public long run(long from, long to, Object[] sums) {
    int chunk = rows.chunk();
    long row = from;
    if (to - from >= 2L * chunk) {
      takeOther();
      many = to - from >= (long) MANY_CHUNKS * chunk;
      row = chunks(from, to, chunk);
    }
    return row - from + (row < to ? rows.run(row, to, sums) : 0);
  }

  /** Does whole chunks; returns the row after them. */
  private long chunks(long from, long to, int chunk) {
    boolean waits = false;
    long row = from;
    for (; row + chunk <= to; row += chunk) {
      if (waits) {
        rows.place(frame, row, chunk);
        rows.place(other.before, row - chunk, chunk);
        kernel.run(frame, other.before, chunk, width);
      } else {
        sum(row, chunk);
      }
      waits = rows.ranged(row, chunk);
      if (!waits) {
        rows.outOfRange(row, chunk);
      }
    }
    if (waits) {
      write(row - chunk, chunk);
    }
    return row;
  }

  private void sum(long row, int chunk) {
    rows.place(frame, row, chunk);
    if (!many) {
      rows.elements(0, row, chunk);
      return;
    }
    // The kernel also writes these rows, to memory that is not read.
    rows.place(other.before, row, chunk);
    other.scratch.place(other.before, Forward.Y, call.rows(Forward.Y), width);
    if (call.rows(Forward.RESIDUAL) != null) {
      other.scratch.place(other.before, Forward.RESIDUAL, call.rows(Forward.RESIDUAL), width);
    }
    kernel.run(frame, other.before, chunk, width);
  }

  private void write(long row, int chunk) {
    rows.place(frame, row, chunk);
    if (!many) {
      rows.elements(2, row, chunk);
      return;
    }
    // The kernel also sums these rows again; the sums are not used.
    rows.place(other.before, row, chunk);
    if (kernel.sumsStore(Forward.RESIDUAL)) {
      other.scratch.place(frame, Forward.RESIDUAL, call.rows(Forward.RESIDUAL), width);
    }
    kernel.run(frame, other.before, chunk, width);
  }
}
