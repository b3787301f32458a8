package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import io.github.rmsnorm4j.internal.lowering.machine.MachineKernel;

/** The backward pass of blocks of rows by kernels of machine code. */
final class MachineBackward implements AutoCloseable {
  /** Elements of one call of a kernel if rows are in arrays, see {@link MachinePass}. */
  private static final int PIECE = 1 << 13;

  private final MachineFrame frame = new MachineFrame();
  private final ColumnCopies columns = new ColumnCopies();

  /** Does rows out of range, in plain Java. */
  private final BackwardPass plain;

  /** The scalars of a row that is done in pieces. */
  private final Frame numbers;

  private final LongRow longRow;
  private BackwardCall call;
  private BackwardPlan plan;
  private int width;

  /** Gain and bias of rows that are done in pieces; null for others. */
  private LongColumns ofPieces;

  /** Kernels of such pieces; null for rows that one kernel does. */
  private Statistic statistic;

  private MachinePiece rowSums;
  private MachinePiece output;

  /** The addresses of the sums for gain and bias, by place. */
  private final long[] sums = new long[Tensor.Access.COLUMN.places()];

  /** The most rows of one call of the kernel. */
  private int most;

  /**
   * A part of a pass.
   *
   * @param numbers the frame of the pass, which has the scalars of its row
   */
  MachineBackward(BackwardPass plain, Frame numbers) {
    this.plain = plain;
    this.numbers = numbers;
    longRow = new LongRow(numbers, this::place);
  }

  /**
   * Begins with a call.
   *
   * @param ofPieces gain and bias of rows that are done in pieces; null for others
   */
  void open(BackwardCall call, BackwardPlan plan, LongColumns ofPieces) {
    this.call = call;
    this.plan = plan;
    this.ofPieces = ofPieces;
    width = call.choices().width();
    frame.setWidth(width, width);
    frame.set(Forward.K, call.choices().part());
    frame.set(Forward.EPSILON, call.choices().epsilon());
    if (ofPieces == null) {
      columns.set(frame, Forward.GAIN, call.gain(), width, call.ofNorm());
      columns.set(frame, Forward.BIAS, call.bias(), width, call.ofNorm());
    } else {
      statistic = new Statistic(null, piece(plan.pieces.shift()), piece(plan.pieces.statistic()));
      rowSums = piece(plan.pieces.sums());
      output = piece(plan.pieces.output());
    }
    place(0, 0);
    most = frame.mostRows(PIECE, width);
  }

  private MachinePiece piece(MachineKernel kernel) {
    return kernel == null ? null : new MachinePiece(kernel, frame);
  }

  /** Drops references to the call, and the memory of long rows. */
  void end() {
    frame.clear();
    call = null;
    plan = null;
    ofPieces = null;
    statistic = null;
    rowSums = null;
    output = null;
    if (width > RowSum.SUPER_BLOCK) {
      columns.close();
    }
  }

  /** Gives the native memory back. Nobody may use it any more. */
  @Override
  public void close() {
    frame.close();
    columns.close();
  }

  /** Does the rows of a block; adds to the gradients of gain and bias, or null. */
  void block(long from, long to, Object gain, Object bias) {
    take(gain, bias);
    long row = from;
    while (row < to) {
      int rows = ofPieces == null ? (int) Math.min(most, to - row) : 1;
      int done = ofPieces == null ? rows(row, rows) : pieces(row);
      row += done;
      if (done < rows) {
        int together = ofPieces == null ? plan.machine.together(rows - done) : 1;
        giveBack(gain, bias);
        plain.rows(row, together);
        take(gain, bias);
        row += together;
      }
    }
    giveBack(gain, bias);
  }

  /** Does rows; returns how many are done. */
  private int rows(long row, int rows) {
    place(row, 0);
    keptNumbers((int) row, rows);
    return plan.machine.run(frame, rows);
  }

  /** Does a row by pieces; returns 0 if it is out of range, and otherwise 1. */
  private int pieces(long row) {
    if (call.rstd() == null) {
      longRow.at(row).statistic(statistic, call.choices());
    }
    if (plain.statistics(row, 1)) {
      return 0;
    }
    longRow.at(row).sums(rowSums, width);
    plan.usual.means().run(numbers, 1, 0, 0);
    output(row);
    return 1;
  }

  private void output(long row) {
    int part = call.choices().part();
    for (long column = 0, end; column < width; column = end) {
      end = Math.min(column < part ? part : width, column + RowSum.SUPER_BLOCK);
      if (column == part) {
        numbers.of(Backward.M)[0] = 0.0; // The statistic does not depend on these.
      }
      int n = (int) (end - column);
      place(row, column, 1, n);
      output.run(numbers, 1, 0, n);
    }
  }

  /** Copies sums to where kernels add to them. */
  private void take(Object gain, Object bias) {
    take(Backward.GAIN_GRADIENT, gain);
    take(Backward.BIAS_GRADIENT, bias);
  }

  private void take(Tensor column, Object array) {
    if (array != null) {
      sums[column.place()] = columns.copy(column, array, width).address();
      frame.point(column, sums[column.place()]);
    }
  }

  private void giveBack(Object gain, Object bias) {
    giveBack(Backward.GAIN_GRADIENT, gain);
    giveBack(Backward.BIAS_GRADIENT, bias);
  }

  private void giveBack(Tensor column, Object array) {
    if (array != null) {
      columns.copyBack(column, array, width);
    }
  }

  /** Points the frame at a piece of a row and of the columns. */
  private void place(long row, long column, int rows, int n) {
    place(row, column);
    ofPieces.place(frame, column);
    placeSums(Backward.GAIN_GRADIENT, column);
    placeSums(Backward.BIAS_GRADIENT, column);
  }

  private void placeSums(Tensor sum, long column) {
    frame.point(sum, sums[sum.place()] + column * (call.float64() ? Double.BYTES : Float.BYTES));
  }

  private void place(long row, long column) {
    call.kept().place(frame, Forward.X, row, column);
    call.dy().place(frame, Backward.DY, row, column);
    call.dx().place(frame, Backward.DX, row, column);
    if (call.residual() != null) {
      call.residual().place(frame, Forward.RESIDUAL, row, column);
    }
  }

  /** Sets the kept statistics of rows. */
  private void keptNumbers(int row, int rows) {
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
