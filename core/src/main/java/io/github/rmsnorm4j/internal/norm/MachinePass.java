package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.util.List;

/** The forward pass of one thread over a run of rows with a kernel of machine code. */
final class MachinePass implements AutoCloseable {
  /**
   * Elements of one call of a kernel if rows are in arrays, unless one row has more. The garbage
   * collector has to wait for the end of such a call, ten to twenty microseconds.
   */
  private static final int PIECE = 1 << 15;

  /** The per-row scalars from which roots are computed. */
  private static final List<Tensor> SUMS = List.of(Forward.SHIFT, Forward.SUM, Forward.SQUARES);

  private static final Staging.Pool<MachinePass> POOL = new Staging.Pool<>(MachinePass::new);

  private final MachineFrame frame = new MachineFrame();

  /** Gain and bias that are not those of the norm, where rows are not long. */
  private final ColumnCopies columns = new ColumnCopies();

  private final MachineLongRow longRow = new MachineLongRow(frame, this::place);

  /** The key of the norm's columns that the frame is set for, or null. */
  private Object setFor;

  /** Gain and bias of long rows; null for shorter ones. */
  private LongColumns longColumns;

  private ForwardCall call;
  private ForwardPlan plan;

  /**
   * A pass for a call. No other call uses it until it is closed.
   *
   * @param longColumns gain and bias of long rows; null for shorter ones
   */
  static MachinePass open(ForwardCall call, ForwardPlan plan, LongColumns longColumns) {
    MachinePass pass = POOL.take();
    pass.longColumns = longColumns;
    pass.call = call;
    pass.plan = plan;
    if (call.ofNorm() == null || pass.setFor != call.ofNorm().key) {
      try {
        pass.set();
      } catch (RuntimeException | Error e) {
        pass.close();
        throw e;
      }
    }
    return pass;
  }

  /** Sets what is the same for all calls of a norm with its own gain and bias. */
  private void set() {
    NormChoices norm = call.choices();
    frame.setWidth(norm.width(), norm.part());
    frame.set(Forward.K, norm.part());
    frame.set(Forward.EPSILON, norm.epsilon());
    setFor = null;
    if (longColumns != null) {
      longRow.open(plan, norm);
      return;
    }
    boolean gain = columns.set(frame, Forward.GAIN, call.gain(), norm.width(), call.ofNorm());
    boolean bias = columns.set(frame, Forward.BIAS, call.bias(), norm.width(), call.ofNorm());
    if (gain && bias && call.ofNorm() != null) {
      setFor = call.ofNorm().key;
    }
  }

  /** Drops references to the call, and returns this pass to the pool. */
  @Override
  public void close() {
    frame.clear();
    longRow.close();
    longColumns = null;
    call = null;
    plan = null;
    if (!POOL.giveBack(this)) {
      frame.close();
      columns.close();
    }
  }

  /** Normalises rows; plain Java continues with rows that are out of range. */
  void run(long from, long to) {
    if (longColumns != null) {
      longRows(from, to);
      return;
    }
    place(from, 0);
    int most = frame.mostRows(PIECE, call.choices().width());
    long row = from;
    while (row < to) {
      int rows = (int) Math.min(most, to - row);
      place(row, 0);
      int done = plan.machine.rows().run(frame, rows);
      keep((int) row, done);
      row += done;
      if (done < rows) {
        row += finish(row, done, plan.machine.rows().together(rows - done));
      }
    }
  }

  private void longRows(long from, long to) {
    for (long row = from; row < to; row++) {
      if (longRow.run(row, call.choices())) {
        keep((int) row, 1);
      } else {
        finish(row, 0, 1);
      }
    }
  }

  /** Points the frame at a piece of a long row, and of gain and bias. */
  private void place(long row, long column, int rows, int n) {
    place(row, column);
    longColumns.place(frame, column);
  }

  private void place(long row, long column) {
    call.x().place(frame, Forward.X, row, column);
    call.y().place(frame, Forward.Y, row, column);
    if (call.residual() != null) {
      call.residual().place(frame, Forward.RESIDUAL, row, column);
    }
  }

  private void keep(int row, int rows) {
    if (call.mean() != null && call.choices().isCentred()) {
      frame.copy(Forward.MEAN, 0, rows, call.mean(), row);
    }
    double[] rstd = call.rstd();
    if (rstd != null) {
      frame.copy(Forward.RSTD, 0, rows, rstd, row);
      for (int r = row; r < row + rows && !call.float64(); r++) {
        rstd[r] = (float) rstd[r];
      }
    }
  }

  /**
   * Does rows of which at least one is out of range. Their sums are known, and x + residual may
   * have been stored.
   *
   * @param done the place of their numbers
   */
  private int finish(long row, int done, int rows) {
    try (ForwardPass pass = ForwardPass.open(call, plan)) {
      pass.finish(row, rows, to -> copySums(to, done, rows));
    }
    return rows;
  }

  private void copySums(Frame to, int done, int rows) {
    for (Tensor number : SUMS) {
      frame.copy(number, done, rows, to.of(number), 0);
    }
  }
}
