package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;

/** The backward pass of blocks of rows by a kernel of machine code. */
final class MachineBackward implements AutoCloseable {
  /** Elements of one call of a kernel if rows are in arrays, see {@link MachinePass}. */
  private static final int PIECE = 1 << 13;

  /** Does rows in plain Java. */
  interface PlainRows {
    void chunk(long row, int rows);
  }

  private final MachineFrame frame = new MachineFrame();
  private final ColumnCopies columns = new ColumnCopies();
  private final PlainRows plain;
  private BackwardCall call;
  private BackwardPlan plan;
  private int width;

  /** The most rows of one call of the kernel. */
  private int most;

  MachineBackward(PlainRows plain) {
    this.plain = plain;
  }

  /** Begins with a call. */
  void open(BackwardCall call, BackwardPlan plan) {
    this.call = call;
    this.plan = plan;
    width = call.choices().width();
    frame.setWidth(width, width);
    frame.set(Forward.K, width);
    frame.set(Forward.EPSILON, call.choices().epsilon());
    columns.set(frame, Forward.GAIN, call.gain(), width, call.ofNorm());
    columns.set(frame, Forward.BIAS, call.bias(), width, call.ofNorm());
    place(0);
    most = frame.mostRows(PIECE, width);
  }

  /** Drops references to the call. */
  void end() {
    frame.clear();
    call = null;
    plan = null;
  }

  /** Gives the native memory back. Nobody may use it any more. */
  @Override
  public void close() {
    frame.close();
    columns.close();
  }

  /** Does the rows of a block; adds to the gradients of gain and bias, or null. */
  void block(long from, long to, Object gain, Object bias) {
    take(Backward.GAIN_GRADIENT, gain);
    take(Backward.BIAS_GRADIENT, bias);
    long row = from;
    while (row < to) {
      int rows = (int) Math.min(most, to - row);
      place(row);
      numbers((int) row, rows);
      int done = plan.machine.run(frame, rows);
      row += done;
      if (done < rows) {
        int together = plan.machine.together(rows - done);
        giveBack(Backward.GAIN_GRADIENT, gain);
        giveBack(Backward.BIAS_GRADIENT, bias);
        plain.chunk(row, together);
        take(Backward.GAIN_GRADIENT, gain);
        take(Backward.BIAS_GRADIENT, bias);
        row += together;
      }
    }
    giveBack(Backward.GAIN_GRADIENT, gain);
    giveBack(Backward.BIAS_GRADIENT, bias);
  }

  /** Copies sums to where the kernel adds to them. */
  private void take(Tensor column, Object sums) {
    if (sums != null) {
      frame.point(column, columns.copy(column, sums, width).address());
    }
  }

  private void giveBack(Tensor column, Object sums) {
    if (sums != null) {
      columns.copyBack(column, sums, width);
    }
  }

  private void place(long row) {
    call.kept().place(frame, Forward.X, row, 0);
    call.dy().place(frame, Backward.DY, row, 0);
    call.dx().place(frame, Backward.DX, row, 0);
    if (call.residual() != null) {
      call.residual().place(frame, Forward.RESIDUAL, row, 0);
    }
  }

  /** Sets the kept statistics of rows. */
  private void numbers(int row, int rows) {
    if (call.rstd() == null) {
      return;
    }
    frame.set(Forward.RSTD, call.rstd(), row, rows);
    if (call.mean() != null) {
      frame.set(Forward.MEAN, call.mean(), row, rows);
    } else if (call.choices().isCentred()) {
      frame.zero(Forward.MEAN, rows);
    }
  }
}
