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

  /** The most warps that share a row: a block of threads has at most 1,024 threads. */
  static final int MOST_WARPS = 32;

  static Form of(int width) {
    return width <= WARP_WIDTH ? WARP : BLOCK;
  }

  /** Warps that share a row of a width: one for each of its blocks, if there are not too many. */
  int warps(int width) {
    int blocks = (int) (((long) width + SumOrder.BLOCK - 1) / SumOrder.BLOCK);
    return this == WARP ? 1 : Math.clamp(blocks, 1, MOST_WARPS);
  }
}
