package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.machine.MachineKernel;
import java.util.List;

/**
 * The kernels of machine code of a call.
 *
 * @param rows the whole norm; null where rows are longer than a super-block
 * @param shift LayerNorm's x0 of a long row; null where none is taken off, and for shorter ones
 * @param pieces the sums of pieces of long rows; null for shorter ones
 * @param output the output of such pieces; null for shorter rows
 */
record MachineKernels(
    MachineKernel rows, MachineKernel shift, MachineKernel pieces, MachineKernel output) {

  /** Those of a norm; null where there is no machine code for it. */
  static MachineKernels of(Forward forward, NormChoices norm, MachineUse use) {
    int bits = norm.machineBits().getAsInt();
    if (norm.width() <= RowSum.SUPER_BLOCK) {
      List<Part> parts = List.of(forward.statistic(), forward.roots(), forward.output());
      int width = norm.part() == norm.width() ? norm.width() : 0;
      MachineKernel rows = MachineKernel.of(parts, bits, width, streams(use, parts, bits, width));
      return rows == null ? null : new MachineKernels(rows, null, null, null);
    }
    boolean shifts = norm.isCentred();
    MachineKernel shift =
        shifts ? MachineKernel.of(List.of(forward.shift()), bits, 0, false) : null;
    MachineKernel pieces = MachineKernel.of(List.of(forward.pieceStatistic()), bits, 0, false);
    List<Part> last = List.of(forward.output());
    MachineKernel output = MachineKernel.of(last, bits, 0, streams(use, last, bits, 0));
    boolean all = pieces != null && output != null && (shift != null || !shifts);
    return all ? new MachineKernels(null, shift, pieces, output) : null;
  }

  private static boolean streams(MachineUse use, List<Part> parts, int bits, int width) {
    return use == MachineUse.STREAMING
        || use == MachineUse.STREAMING_UNALIGNED && MachineKernel.peels(parts, bits, width);
  }
}
