package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.CallNumber;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.util.List;

/** The forward pass of one thread over a run of rows with a kernel of machine code. */
final class MachinePass implements AutoCloseable {
  /**
   * Elements of one call of a kernel if rows are in arrays, unless one row has more. The garbage
   * collector has to wait for the end of such a call, ten to twenty microseconds.
   */
  private static final int PIECE = 1 << 15;

  /** The numbers of a row from which roots are computed. */
  private static final List<RowNumber> SUMS =
      List.of(RowNumber.SHIFT, RowNumber.SUM, RowNumber.SQUARES);

  private static final Staging.Pool<MachinePass> POOL = new Staging.Pool<>(MachinePass::new);

  private final MachineFrame frame = new MachineFrame();

  /** Gain and bias of a call, if they are not those of the norm. */
  private final ColumnCopies columns = new ColumnCopies();

  /** The addresses of gain and bias. */
  private final long[] addresses = new long[Column.COUNT];

  private final MachineLongRow longRow = new MachineLongRow(frame, this::place);

  /** The key of the columns that the frame is set for, or null. */
  private Object setFor;

  private ForwardCall call;
  private ForwardPlan plan;

  /** A pass for a call. No other call uses it until it is closed. */
  static MachinePass open(ForwardCall call, ForwardPlan plan) {
    MachinePass pass = POOL.take();
    pass.call = call;
    pass.plan = plan;
    if (pass.setFor != plan.machineColumns.key) {
      pass.set();
    }
    return pass;
  }

  /** Sets what is the same for all calls of a plan with the same gain and bias. */
  private void set() {
    NormChoices norm = call.choices();
    frame.setWidth(norm.width(), norm.part());
    frame.set(CallNumber.K, norm.part());
    frame.set(CallNumber.EPSILON, norm.epsilon());
    set(Column.GAIN, call.gain());
    set(Column.BIAS, call.bias());
    boolean isLong = norm.width() > RowSum.SUPER_BLOCK;
    if (isLong) {
      longRow.open(plan, norm);
    }
    setFor = call.kept() && !isLong ? plan.machineColumns.key : null;
  }

  /** Drops references to the call, and returns this pass to the pool. */
  @Override
  public void close() {
    frame.clear();
    longRow.close();
    columns.shrink();
    call = null;
    plan = null;
    POOL.giveBack(this);
  }

  private void set(Column column, Object numbers) {
    if (numbers != null) {
      MachineColumns kept = call.kept() ? plan.machineColumns : null;
      long address = columns.address(column, (float[]) numbers, call.choices().width(), kept);
      addresses[column.ordinal()] = address;
      frame.set(column, address);
    }
  }

  /** Normalises rows; plain Java continues with rows that are out of range. */
  void run(long from, long to) {
    if (call.choices().width() > RowSum.SUPER_BLOCK) {
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

  /** Points the frame at a piece of a long row. */
  private void place(long row, long column, int rows, int n) {
    place(row, column);
    frame.set(Column.GAIN, addresses[Column.GAIN.ordinal()] + column * Float.BYTES);
    frame.set(Column.BIAS, addresses[Column.BIAS.ordinal()] + column * Float.BYTES);
  }

  private void place(long row, long column) {
    call.x().place(frame, Operand.X, row, column);
    call.y().place(frame, Operand.Y, row, column);
    if (call.residual() != null) {
      call.residual().place(frame, Operand.RESIDUAL, row, column);
    }
  }

  private void keep(int row, int rows) {
    if (call.mean() != null && call.choices().isCentred()) {
      frame.copy(RowNumber.MEAN, 0, rows, call.mean(), row);
    }
    double[] rstd = call.rstd();
    if (rstd != null) {
      frame.copy(RowNumber.RSTD, 0, rows, rstd, row);
      for (int r = row; r < row + rows; r++) {
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
    for (RowNumber number : SUMS) {
      frame.copy(number, done, rows, to.of(number), 0);
    }
  }
}
