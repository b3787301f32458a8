package io.github.rmsnorm4j.internal.formula;

/**
 * The orders of sums.
 *
 * <p>A row is cut into super-blocks of 65,536 elements, and each super-block into blocks of 1,024.
 * Within a block the term of element i is added to lane i mod 32. The lanes of blocks are added to
 * those of their super-block, and the lanes of super-blocks to those of the row, in order. The 32
 * lanes of the row are added as a tree. Everything is float64.
 *
 * <p>Gradients of gain and bias are sums over rows. Rows are added in blocks of 32, and blocks as a
 * tree.
 */
public final class SumOrder {
  /** Lanes: four vectors of eight doubles, eight of four, or sixteen of two. */
  public static final int LANES = 32;

  /** Elements in a block. */
  public static final int BLOCK = 1 << 10;

  /** Elements in a super-block. */
  public static final int SUPER_BLOCK = 1 << 16;

  /** Rows that are added to the gradient of a gain or a bias one after the other. */
  public static final int ROWS = 32;

  private SumOrder() {}
}
