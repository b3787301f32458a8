package io.github.rmsnorm4j.internal.formula;

import static io.github.rmsnorm4j.internal.formula.SumOrder.BLOCK;
import static io.github.rmsnorm4j.internal.formula.SumOrder.LANES;
import static io.github.rmsnorm4j.internal.formula.SumOrder.SUPER_BLOCK;

/** A row sum to which terms are added one after the other, in the order of docs/numerics.md. */
final class OrderedSum {
  /** Of the block, the super-block and the row. */
  private final double[][] lanes = new double[3][LANES];

  private int terms;

  void add(double term) {
    lanes[0][terms++ % LANES] += term;
    close(0, terms % BLOCK == 0);
    close(1, terms % SUPER_BLOCK == 0);
  }

  private void close(int level, boolean whole) {
    for (int lane = 0; whole && lane < LANES; lane++) {
      lanes[level + 1][lane] += lanes[level][lane];
      lanes[level][lane] = 0.0;
    }
  }

  /** The sum of all terms, at the end. */
  double total() {
    close(0, true);
    close(1, true);
    return tree(0, 1);
  }

  private double tree(int lane, int apart) {
    int next = 2 * apart;
    return apart == LANES ? lanes[2][lane] : tree(lane, next) + tree(lane + apart, next);
  }
}
