package io.github.rmsnorm4j.internal.kernel;

import java.util.Arrays;

/**
 * The row sum of the numerics contract, term by term: the definition that every kernel equals to
 * the bit.
 *
 * <p>A row is cut into super-blocks of 65,536 elements and those into blocks of 1,024. Within a
 * block the term of element i goes to lane i mod 32. Lanes of blocks are added to those of their
 * super-block, and those to the row's, in order. The 32 lanes of the row are added as a tree. All
 * of it is float64 and no step is fused, so the result depends neither on the width of the
 * machine's vectors nor on threads.
 */
public final class RowSum {
  /** Lanes: four vectors of eight doubles, eight of four, or sixteen of two. */
  public static final int LANES = 32;

  /** Elements in a block. */
  public static final int BLOCK = 1 << 10;

  /** Elements in a super-block. */
  public static final int SUPER_BLOCK = 1 << 16;

  private final double[] block = new double[LANES];
  private final double[] superBlock = new double[LANES];
  private final double[] row = new double[LANES];
  private long count;

  /** Adds the term of the next element. */
  public void add(double term) {
    block[(int) (count % LANES)] += term;
    count++;
    if (count % BLOCK == 0) {
      fold(block, superBlock);
    }
    if (count % SUPER_BLOCK == 0) {
      fold(superBlock, row);
    }
  }

  /** Closes the row and gives its sum. */
  public double total() {
    fold(block, superBlock);
    fold(superBlock, row);
    return tree(row, 0);
  }

  /** Adds one level's lanes to the next level's and starts the first anew. */
  private static void fold(double[] from, double[] into) {
    for (int j = 0; j < LANES; j++) {
      into[j] += from[j];
    }
    Arrays.fill(from, 0.0);
  }

  /** The sum of 32 lanes, overwriting the first 8: each with the one 16 on, then 8, 4, 2 and 1. */
  public static double tree(double[] lanes, int at) {
    for (int j = at; j < at + 8; j++) {
      lanes[j] = (lanes[j] + lanes[j + 16]) + (lanes[j + 8] + lanes[j + 24]);
    }
    double even = (lanes[at] + lanes[at + 4]) + (lanes[at + 2] + lanes[at + 6]);
    double odd = (lanes[at + 1] + lanes[at + 5]) + (lanes[at + 3] + lanes[at + 7]);
    return even + odd;
  }

  /**
   * What is left of the trees of some rows: of row r the vector of partial sums at 32 r, halved
   * until it is one sum.
   *
   * @param lanes are overwritten
   * @param vector how many partial sums there are, 4 or 8
   */
  static void trees(double[] lanes, int vector, int rows, double[] sums) {
    for (int r = 0; r < rows; r++) {
      int l = r * LANES;
      if (vector == 8) {
        lanes[l] += lanes[l + 4];
        lanes[l + 1] += lanes[l + 5];
        lanes[l + 2] += lanes[l + 6];
        lanes[l + 3] += lanes[l + 7];
      }
      sums[r] = (lanes[l] + lanes[l + 2]) + (lanes[l + 1] + lanes[l + 3]);
    }
  }
}
