package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/** What is put together in one loop, by measurement: docs/kernels.md has the figures. */
final class Schedule {
  /** Rows up to this width are narrow: many of them, and few steps in each. */
  private static final int NARROW = 256;

  /** Calls of the Vector API in a loop, from which on the JIT now and then boxes a vector. */
  private static final int BUDGET = 110;

  private Schedule() {}

  /** The width that a kernel of row sums is made for, 0 for any. */
  static int width(int elements) {
    return elements <= NARROW && elements % RowSum.LANES == 0 ? elements : 0;
  }

  /**
   * Whether rows are summed while others are written: sums wait for conversions, outputs for memory.
   * Between narrow and wide ones what there is to do for each row, beside its elements, costs more.
   * Two row sums and the output of narrow rows are more than the JIT has registers for.
   */
  static boolean isStaggered(Part sums, int width) {
    boolean narrow = width(width) > 0 && sums.sums().size() == 1;
    return narrow || width >= RowSum.BLOCK && width <= RowSum.SUPER_BLOCK;
  }

  /** Whether a loop is small enough for the JIT. */
  static boolean fits(VectorKernel kernel) {
    return kernel.calls() <= BUDGET;
  }
}
