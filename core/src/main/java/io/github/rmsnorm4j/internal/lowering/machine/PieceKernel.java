package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/** A kernel of machine code for pieces of rows. The frame keeps {@link RowsInPieces.Memory}. */
final class PieceKernel implements Kernel {
  private final MachineKernel kernel;
  private final Tensor[] tensors;

  PieceKernel(Stage stage, MachineKernel kernel) {
    this.kernel = kernel;
    tensors = stage.tensors().keySet().toArray(new Tensor[0]);
  }

  /** Always of one row, from its first element on. */
  @Override
  public void run(Frame frame, int rows, int from, int to) {
    run(frame, to);
  }

  private MachineFrame run(Frame frame, int n) {
    MachineFrame piece = ((RowsInPieces.Memory) frame.own).at(frame, tensors);
    piece.setWidth(n, n);
    piece.setNumbers(frame);
    kernel.run(piece, 1);
    piece.copyNumbers(0, 1, frame);
    return piece;
  }

  @Override
  public void superBlock(Frame frame, int n) {
    kernel.copyLanes(run(frame, n), frame);
    RowSum.closeSuperBlock(frame, kernel.sums().size());
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, kernel.sums(), false);
  }
}
