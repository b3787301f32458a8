package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;

/** Normalises a row longer than a super-block by machine code, a super-block at a time. */
final class MachineLongRow {
  private final MachineFrame piece;
  private final LongRow.Columns place;
  private final LongRow sums;

  /** The scalars of the row. */
  private final Frame numbers = new Frame();

  private ForwardPlan plan;
  private Statistic statistic;
  private MachinePiece output;

  /**
   * A row of a pass.
   *
   * @param place points the piece at columns of a row
   */
  MachineLongRow(MachineFrame piece, LongRow.Columns place) {
    this.piece = piece;
    this.place = place;
    sums = new LongRow(numbers, place);
  }

  /** Begins with the rows of a call. */
  void open(ForwardPlan plan, NormChoices norm) {
    this.plan = plan;
    MachineKernels kernels = plan.machine;
    MachinePiece shift = kernels.shift() == null ? null : new MachinePiece(kernels.shift(), piece);
    statistic = new Statistic(null, shift, new MachinePiece(kernels.pieces(), piece));
    output = new MachinePiece(kernels.output(), piece);
    numbers.set(Forward.K, norm.part());
    numbers.set(Forward.EPSILON, norm.epsilon());
    numbers.of(Forward.MEAN)[0] = 0.0;
  }

  /**
   * Normalises a row. Its numbers are then those of the first row of the piece.
   *
   * @return false if the row is out of range: then it is only summed
   */
  boolean run(long row, NormChoices norm) {
    sums.at(row).statistic(statistic, norm);
    plan.roots.run(numbers, 1, 0, 0);
    if (numbers.outOfRange) {
      piece.setNumbers(numbers);
      return false;
    }
    for (long column = 0; column < norm.width(); column += RowSum.SUPER_BLOCK) {
      int n = (int) Math.min(RowSum.SUPER_BLOCK, norm.width() - column);
      place.read(row, column, 1, n);
      output.run(numbers, 1, 0, n);
    }
    return true;
  }

  /** Drops references to the call. */
  void close() {
    plan = null;
    statistic = null;
    output = null;
  }
}
