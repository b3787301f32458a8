package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;

/**
 * Decides what runs together in one loop, from measurements; dev-docs/kernels.md has the reasons.
 */
final class Schedule {
  /** Rows up to this width are narrow: there are many of them, with few steps in each. */
  private static final int NARROW = 256;

  /**
   * The number of calls of the Vector API in a loop above which the JIT sometimes boxes a vector.
   */
  private static final int BUDGET = 80;

  /** The same for a loop over rows. It is less, because most of these vectors are float64. */
  private static final int ROWS_BUDGET = 40;

  /** Accumulators of all row sums of a loop: with more the JIT has too few registers. */
  private static final int ACCUMULATORS = 8;

  /** Vectors of a loop that only stores. */
  private static final int VECTORS = 4;

  private Schedule() {}

  /** The width for which a kernel of row sums is made, 0 for any. */
  static int width(int elements) {
    return elements <= NARROW && elements % SumOrder.LANES == 0 ? elements : 0;
  }

  /**
   * Whether rows are summed while others are written, because sums wait for conversions and outputs
   * for memory. At medium widths the work for each row, apart from its elements, costs more than
   * that. Two row sums and the output of narrow rows need more registers than the JIT has.
   */
  static boolean isStaggered(Stage sums, int width) {
    boolean narrow = width(width) > 0 && sums.sums().size() == 1;
    return narrow || width >= SumOrder.BLOCK && width <= SumOrder.SUPER_BLOCK;
  }

  /** Accumulators of each row sum of a stage; its lanes take one sweep or several. */
  static int accumulators(Stage stage, int doubles) {
    int lanes = SumOrder.LANES / doubles;
    if (stage.sums().isEmpty()) {
      return lanes;
    }
    int count = Math.min(lanes, ACCUMULATORS / stage.sums().size());
    while (count > 2 && count * Cost.of(stage) > BUDGET) {
      count /= 2;
    }
    return count;
  }

  /** Whether a loop over narrow rows has all sweeps unrolled, and not a loop over them. */
  static boolean sumsAtOnce(Stage stage, int vectors) {
    return vectors * Cost.of(stage) <= BUDGET;
  }

  /** The most vectors of a step of a loop that only stores. */
  static int vectors(Stage stage, int most) {
    int count = Math.min(most, VECTORS);
    while (count > 1 && count * Cost.of(stage) > BUDGET) {
      count /= 2;
    }
    return count;
  }

  /** Whether the second stage of a target has at least a vector, or a pair, in each sweep. */
  static boolean sharesWhole(Target target) {
    Stage second = target.stages().getLast();
    int share = SumOrder.LANES / target.sweeps() / target.elements(second);
    return share >= (target.pairs(second) ? 2 : 1);
  }

  /** Whether a loop with so many calls of the Vector API is small enough for the JIT. */
  static boolean fits(int calls) {
    return calls <= BUDGET;
  }

  /** Whether such a loop over vectors of rows is. */
  static boolean fitsRows(int calls) {
    return calls <= ROWS_BUDGET;
  }
}
