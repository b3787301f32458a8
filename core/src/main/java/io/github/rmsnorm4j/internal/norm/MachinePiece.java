package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import io.github.rmsnorm4j.internal.lowering.machine.MachineKernel;

/**
 * A kernel of machine code for pieces of long rows. A plain frame has the scalars of the row; the
 * frame of machine code points to the piece.
 */
record MachinePiece(MachineKernel kernel, MachineFrame piece) implements Kernel {
  /** Always of one row, from its first element on. */
  @Override
  public void run(Frame frame, int rows, int from, int to) {
    piece.setWidth(to, to);
    piece.setNumbers(frame);
    kernel.run(piece, rows);
    piece.copyNumbers(frame);
  }

  @Override
  public void superBlock(Frame frame, int n) {
    run(frame, 1, 0, n);
    kernel.copyLanes(piece, frame);
    RowSum.closeSuperBlock(frame, kernel.sums().size());
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, kernel.sums(), false);
  }
}
