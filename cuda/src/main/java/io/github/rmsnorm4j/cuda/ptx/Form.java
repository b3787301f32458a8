package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.internal.formula.SumOrder;

/** How threads share the rows of a call. */
public enum Form {
  /** A warp for each row; a block of threads has several such warps. */
  WARP,
  /** A block of threads for each row: its warps take blocks of 1,024 elements in turn. */
  BLOCK;

  /** The widest rows that a warp does alone. */
  static final int WARP_WIDTH = SumOrder.BLOCK;

  /** Warps of a block of threads that does rows a warp each. */
  static final int ROWS_OF_BLOCK = 8;

  /**
   * The most warps that share a row. Twice as many would leave a thread 64 registers, which are too
   * few for elements of 16 bits in float64.
   */
  static final int MOST_WARPS = 16;

  /**
   * {@return how threads share rows of a width}
   *
   * @param width of a row, or of a group
   */
  public static Form of(int width) {
    return width <= WARP_WIDTH ? WARP : BLOCK;
  }

  /** The most threads of a block. */
  int mostThreads() {
    return SumOrder.LANES * (this == WARP ? ROWS_OF_BLOCK : MOST_WARPS);
  }

  /** Warps that share a row of a width: one for each of its blocks, if there are not too many. */
  int warps(int width) {
    int blocks = (int) (((long) width + SumOrder.BLOCK - 1) / SumOrder.BLOCK);
    return this == WARP ? 1 : Math.clamp(blocks, 1, MOST_WARPS);
  }
}
