package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The forward pass of one thread over a run of rows: read, compute the statistic, write.
 *
 * <p>Rows are processed in chunks that stay in the first-level cache, so that the second read does
 * not go to memory. A row longer than a super-block is processed in pieces of one super-block.
 */
final class ForwardPass implements AutoCloseable {
  /** Elements of a chunk of rows, unless one row is longer: they stay in the first-level cache. */
  private static final int CHUNK = 4096;

  /**
   * From this number of chunks on, the first and the last take the staggered kernel too. Kernels
   * for these two alone would run too rarely to be compiled.
   */
  private static final int MANY_CHUNKS = 32;

  private static final Staging.Pool<ForwardPass> POOL = new Staging.Pool<>(ForwardPass::new);

  private final Frame frame = new Frame();

  /** The rows whose output is written while the next rows are read. */
  private final Frame before = new Frame(frame);

  private final RowAccess x = new RowAccess(Forward.X);
  private final RowAccess residual = new RowAccess(Forward.RESIDUAL);
  private final RowAccess y = new RowAccess(Forward.Y);
  private final Staging staging = new Staging();
  private final Staging residualStaging = new Staging();
  private final Scratch scratch = new Scratch();
  private final LongRow longRow = new LongRow(frame, this::read);

  private ForwardCall call;
  private ForwardPlan plan;
  private int width;
  private int part;
  private boolean adds;

  /** Whether every chunk takes the staggered kernel. */
  private boolean many;

  /** A pass for a call. No other call uses it until it is closed. */
  static ForwardPass open(ForwardCall call, ForwardPlan plan) {
    ForwardPass pass = POOL.take();
    try {
      pass.begin(call, plan);
    } catch (RuntimeException | Error e) {
      pass.close();
      throw e;
    }
    return pass;
  }

  private void begin(ForwardCall call, ForwardPlan plan) {
    this.call = call;
    this.plan = plan;
    NormChoices norm = call.choices();
    width = norm.width();
    part = norm.part();
    adds = call.residual() != null;
    many = false;
    x.open(call.x(), plan.storage, frame, staging);
    y.open(call.y(), plan.storage, frame, staging);
    if (adds) {
      residual.open(call.residual(), plan.storage, frame, residualStaging);
    }
    frame.set(Forward.K, part);
    frame.set(Forward.EPSILON, norm.epsilon());
    frame.point(Forward.GAIN, plan.columns.of(Forward.GAIN, call.gain()));
    frame.point(Forward.BIAS, plan.columns.of(Forward.BIAS, call.bias()));
    before.shareColumns(frame);
    if (!norm.isCentred()) {
      Arrays.fill(frame.of(Forward.MEAN), 0.0);
    }
  }

  /** Drops references to the call, and returns this pass to the pool. */
  @Override
  public void close() {
    x.close();
    y.close();
    residual.close();
    staging.shrink();
    residualStaging.shrink();
    frame.clear();
    before.clear();
    call = null;
    plan = null;
    if (!POOL.giveBack(this)) {
      scratch.close();
    }
  }

  /** Normalises rows {@code from} to {@code to}. */
  void run(long from, long to) {
    int chunk = Math.clamp(CHUNK / width, 1, Frame.MAX_ROWS);
    if (width > RowSum.SUPER_BLOCK) {
      for (long row = from; row < to; row++) {
        longRow(row);
      }
      return;
    }
    long row = from;
    if (plan.staggered != null && to - from >= 2L * chunk) {
      many = to - from >= (long) MANY_CHUNKS * chunk;
      row = staggered(from, to, chunk);
    }
    for (; row < to; row += chunk) {
      chunk(row, (int) Math.min(chunk, to - row));
    }
  }

  /**
   * Continues with rows whose sums are known.
   *
   * @param sums stores them in a frame
   */
  void finish(long row, int rows, Consumer<Frame> sums) {
    if (width > RowSum.SUPER_BLOCK) {
      sums.accept(frame);
      summedLong(row);
      return;
    }
    read(row, 0, rows, width);
    sums.accept(frame);
    summed(row, rows);
  }

  /** Sums each whole chunk while it writes the chunk before; returns the end of the chunks. */
  private long staggered(long from, long to, int chunk) {
    boolean waits = false;
    long row = from;
    for (; row + chunk <= to; row += chunk) {
      if (waits) {
        read(row, 0, chunk, width);
        placeBefore(row - chunk, chunk);
        plan.staggered.run(frame, before, chunk, width);
      } else {
        sums(row, chunk);
      }
      waits = !statistics(chunk);
      if (waits) {
        keep(row, chunk);
      } else {
        outOfRange(row, chunk);
      }
    }
    if (waits) {
      write(row - chunk, chunk);
    }
    return row;
  }

  private void chunk(long row, int rows) {
    sums(row, rows);
    summed(row, rows);
  }

  private void summed(long row, int rows) {
    if (statistics(rows)) {
      outOfRange(row, rows);
    } else {
      keep(row, rows);
      write(row, rows);
    }
  }

  /** Points the frame at rows. */
  private void read(long row, long column, int rows, int columns) {
    x.read(row, column, rows, columns);
    if (adds) {
      residual.read(row, column, rows, columns);
    }
  }

  /** Points the other frame at rows whose output is written. */
  private void placeBefore(long row, int rows) {
    x.place(before, row, 0, rows, width);
    y.place(before, row, 0, rows, width);
    if (adds) {
      residual.place(before, row, 0, rows, width);
    }
  }

  private void sums(long row, int rows) {
    read(row, 0, rows, width);
    if (!many) {
      plan.statistic.rows().run(frame, rows, 0, part);
      return;
    }
    // The kernel also writes these rows, to memory that is not read.
    placeBefore(row, rows);
    scratch.place(before, Forward.Y, call.y(), width);
    if (adds) {
      scratch.place(before, Forward.RESIDUAL, call.residual(), width);
    }
    plan.staggered.run(frame, before, rows, width);
  }

  /** Does rows of which at least one is out of range, each by itself, from their sums. */
  private void outOfRange(long row, int rows) {
    for (int r = 0; r < rows; r++) {
      frame.moveToFirst(r);
      Kernel kernel = plan.output;
      if (isOutOfRange(row + r)) {
        kernel = outOfRangeOutput();
        keepOutOfRange(row + r);
      } else {
        keep(row + r, 1);
      }
      write(kernel, row + r, 0, width);
    }
  }

  /**
   * Whether the first row of the frame is out of range. A float64 row is then summed again with
   * scaled elements.
   */
  private boolean isOutOfRange(long row) {
    plan.range.run(frame, 1, 0, 0);
    return frame.outOfRange
        && (!call.float64() || plan.rescaled().statistic(call.choices(), longRow.at(row), frame));
  }

  private Kernel outOfRangeOutput() {
    return call.float64() ? plan.rescaled().output(frame) : plan.wideOutput();
  }

  private void longRow(long row) {
    longRow.at(row).statistic(plan.statistic, call.choices());
    summedLong(row);
  }

  private void summedLong(long row) {
    Kernel kernel = plan.output;
    if (statistics(1) && isOutOfRange(row)) {
      kernel = outOfRangeOutput();
      keepOutOfRange(row);
    } else {
      keep(row, 1);
    }
    for (long column = 0; column < width; column += RowSum.SUPER_BLOCK) {
      write(kernel, row, column, (int) Math.min(RowSum.SUPER_BLOCK, width - column));
    }
  }

  /** Computes mean and rstd from sums; returns whether a row may be out of range. */
  private boolean statistics(int rows) {
    plan.roots.run(frame, rows, 0, 0);
    return frame.outOfRange;
  }

  private void keep(long row, int rows) {
    keepMean(row, rows);
    if (call.rstd() == null) {
      return;
    }
    double[] rstd = frame.of(Forward.RSTD);
    for (int r = 0; r < rows; r++) {
      call.rstd()[(int) row + r] = call.float64() ? rstd[r] : (float) rstd[r];
    }
  }

  private void keepMean(long row, int rows) {
    if (call.mean() != null) {
      System.arraycopy(frame.of(Forward.MEAN), 0, call.mean(), (int) row, rows);
    }
  }

  private void keepOutOfRange(long row) {
    keepMean(row, 1);
    if (call.rstd() != null) {
      double scale = call.float64() ? frame.ofCall[Forward.SCALE.place()] : 1.0;
      call.rstd()[(int) row] = frame.of(Forward.RSTD)[0] * scale;
    }
  }

  private void write(long row, int rows) {
    y.place(row, 0, rows, width);
    if (!many) {
      plan.output.run(frame, rows, 0, width);
      finish(row, 0, rows, width);
      return;
    }
    // The kernel also sums these rows again; the sums are not used.
    placeBefore(row, rows);
    if (plan.isOnTheWay()) {
      scratch.place(frame, Forward.RESIDUAL, call.residual(), width);
    }
    plan.staggered.run(frame, before, rows, width);
  }

  /** Writes one row, or a piece of it. */
  private void write(Kernel kernel, long row, long column, int columns) {
    read(row, column, 1, columns);
    y.place(row, column, 1, columns);
    frame.moveColumns((int) column);
    kernel.run(frame, 1, 0, columns);
    frame.moveColumns(0);
    finish(row, column, 1, columns);
  }

  private void finish(long row, long column, int rows, int columns) {
    y.write(row, column, rows, columns);
    if (adds) {
      residual.write(row, column, rows, columns);
    }
  }
}
