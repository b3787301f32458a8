package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/** What is put together in one loop, by measurement; docs/kernels.md explains each choice. */
final class Schedule {
  /** Rows up to this width are narrow: many of them, and few steps in each. */
  private static final int NARROW = 256;

  /** Calls of the Vector API in a loop, from which on the JIT now and then boxes a vector. */
  private static final int BUDGET = 80;

  /** Accumulators of a loop, of all row sums together: with more the JIT runs out of registers. */
  private static final int ACCUMULATORS = 8;

  /** Vectors of a loop that only stores. */
  private static final int VECTORS = 4;

  private Schedule() {}

  /** The width that a kernel of row sums is made for, 0 for any. */
  static int width(int elements) {
    return elements <= NARROW && elements % RowSum.LANES == 0 ? elements : 0;
  }

  /**
   * Whether rows are summed while others are written: sums wait for conversions, outputs for
   * memory. Between narrow and wide ones what there is to do for each row, beside its elements,
   * costs more. Two row sums and the output of narrow rows are more than the JIT has registers for.
   */
  static boolean isStaggered(Part sums, int width) {
    boolean narrow = width(width) > 0 && sums.sums().size() == 1;
    return narrow || width >= RowSum.BLOCK && width <= RowSum.SUPER_BLOCK;
  }

  /** Accumulators of each row sum of a part, of which all lanes are one or several. */
  static int accumulators(Part part, int doubles) {
    int lanes = RowSum.LANES / doubles;
    if (part.sums().isEmpty()) {
      return lanes;
    }
    int count = Math.min(lanes, ACCUMULATORS / part.sums().size());
    while (count > 2 && count * Cost.of(part) > BUDGET) {
      count /= 2;
    }
    return count;
  }

  /** Whether a loop over narrow rows has all sweeps in it, and not a loop over them. */
  static boolean sumsAtOnce(Part part, int vectors) {
    return vectors * Cost.of(part) <= BUDGET;
  }

  /** Vectors of a step of a loop that only stores, at most. */
  static int vectors(Part part, int most) {
    int count = Math.min(most, VECTORS);
    while (count > 1 && count * Cost.of(part) > BUDGET) {
      count /= 2;
    }
    return count;
  }

  /** Whether each sweep leaves the second part of a target at least a vector, or a pair of them. */
  static boolean sharesWhole(Target target) {
    Part second = target.parts().getLast();
    int share = RowSum.LANES / target.sweeps() / target.elements(second);
    return share >= (target.pairs(second) ? 2 : 1);
  }

  /** Whether a loop with so many calls of the Vector API is small enough for the JIT. */
  static boolean fits(int calls) {
    return calls <= BUDGET;
  }
}
