package io.github.rmsnorm4j.models.check;

import java.util.Arrays;

/**
 * Row sums in float64, in the order of docs/numerics.md: blocks of 1,024 elements, 32 lanes, a
 * tree. So they are those of the library, to the bit.
 */
final class RowSums {
  private static final int LANES = 32;
  private static final int BLOCK = 1 << 10;
  private static final int SUPER_BLOCK = 1 << 16;

  /** From this width on the variance takes a second pass. */
  private static final int ONE_PASS = 1 << 20;

  private RowSums() {}

  /** The mean square of the first k elements. */
  static double meanSquare(double[] row, int k) {
    return sum(row, k, 0, true) / k;
  }

  /** Mean and variance. */
  static double[] moments(double[] row) {
    int n = row.length;
    double first = row[0];
    double sum = sum(row, n, first, false);
    double mean = first + sum / n;
    double squares =
        n > ONE_PASS ? sum(row, n, mean, true) : sum(row, n, first, true) - sum * sum / n;
    return new double[] {mean, Math.max(0, squares / n)};
  }

  /** The sum of x - shift, or of its squares. */
  private static double sum(double[] row, int k, double shift, boolean squared) {
    double[] total = new double[LANES];
    double[] outer = new double[LANES];
    double[] block = new double[LANES];
    for (int from = 0; from < k; from += BLOCK) {
      int to = Math.min(k, from + BLOCK);
      Arrays.fill(block, 0);
      for (int i = from; i < to; i++) {
        double d = row[i] - shift;
        block[i - from & LANES - 1] += squared ? d * d : d;
      }
      add(outer, block);
      if (to == k || to % SUPER_BLOCK == 0) {
        add(total, outer);
        Arrays.fill(outer, 0);
      }
    }
    for (int w = LANES / 2; w > 0; w /= 2) {
      for (int j = 0; j < w; j++) {
        total[j] += total[j + w];
      }
    }
    return total[0];
  }

  private static void add(double[] total, double[] more) {
    for (int lane = 0; lane < LANES; lane++) {
      total[lane] += more[lane];
    }
  }
}
