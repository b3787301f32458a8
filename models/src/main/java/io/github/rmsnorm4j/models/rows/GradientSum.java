package io.github.rmsnorm4j.models.rows;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The gradient of a gain or a bias over all rows, from those over pieces of them: to the same bits
 * as one call of the library on all rows at once.
 *
 * <p>The library adds rows up in blocks of 32, one after the other, and the blocks as a tree:
 * node(l, k) = node(l - 1, 2k) + node(l - 1, 2k + 1), or the left one alone where there is no right
 * one. So a piece is one row, or as many blocks as are a power of two, which are a node.
 */
public final class GradientSum {
  private static final int BLOCK = 32;

  private final int width;
  private final boolean float64;

  /** Pieces that make a leaf of the tree. */
  private final int leafPieces;

  /** Finished nodes that lack their right neighbour, the last one first. */
  private final Deque<double[]> nodes = new ArrayDeque<>();

  private final Deque<double[]> free = new ArrayDeque<>();
  private long leaves;
  private double[] leaf;
  private int inLeaf;

  /**
   * Begins with no rows.
   *
   * @param width of the rows
   * @param float64 whether sums are rounded to float64; else they are to float32, whose values a
   *     double holds, and whose sum in float64 rounds to what float32 arithmetic gives
   * @param pieceRows rows of each piece but the last, as {@link #pieceRows} has them
   */
  public GradientSum(int width, boolean float64, long pieceRows) {
    this.width = width;
    this.float64 = float64;
    leafPieces = pieceRows == 1 ? BLOCK : 1;
  }

  /**
   * {@return how many rows a piece may have}
   *
   * @param room for how many there is room, 1 or more
   */
  public static long pieceRows(long room) {
    return room < BLOCK ? 1 : Long.highestOneBit(room);
  }

  /** {@return an array for the next piece's gradient, holding anything} */
  public double[] open() {
    double[] array = free.poll();
    return array == null ? new double[width] : array;
  }

  /**
   * Takes the next piece's gradient.
   *
   * @param piece an array that {@link #open} gave
   */
  public void add(double[] piece) {
    leaf = inLeaf == 0 ? piece : plus(leaf, piece);
    if (++inLeaf == leafPieces) {
      closeLeaf();
    }
  }

  private void closeLeaf() {
    inLeaf = 0;
    leaves++;
    double[] node = leaf;
    // As a counter in binary carries: one level up for each bit that becomes 0.
    for (int level = 0; level < Long.numberOfTrailingZeros(leaves); level++) {
      node = plus(nodes.pop(), node);
    }
    nodes.push(node);
  }

  /** {@return the sum over all rows, zeros if there are none; nothing is added after it} */
  public double[] total() {
    if (inLeaf > 0) {
      closeLeaf();
    }
    double[] sum = nodes.isEmpty() ? new double[width] : nodes.pop();
    while (!nodes.isEmpty()) {
      sum = plus(nodes.pop(), sum);
    }
    return sum;
  }

  private double[] plus(double[] left, double[] right) {
    for (int i = 0; i < width; i++) {
      double sum = left[i] + right[i];
      left[i] = float64 ? sum : (float) sum;
    }
    free.push(right);
    return left;
  }
}
