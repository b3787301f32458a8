package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.internal.formula.SumOrder;

/** How threads share the rows of a call. */
public enum Form {
  /** A few threads of a warp for each row, so many that each has 16 bytes of 32 elements. */
  NARROW,
  /** A warp for each row; a block of threads has several such warps. */
  WARP,
  /** A block of threads for each row: its warps take blocks of 1,024 elements in turn. */
  BLOCK;

  /** The widest rows of which a warp does several. */
  static final int NARROW_WIDTH = 512;

  /** The widest rows that a warp does alone. */
  static final int WARP_WIDTH = SumOrder.BLOCK;

  /** Warps of a block of threads that does many rows. */
  static final int WARPS_OF_ROWS = 8;

  /**
   * The most warps that share a row. Twice as many would leave a thread 64 registers, which are too
   * few for elements of 16 bits in float64.
   */
  static final int MOST_WARPS = 16;

  /**
   * {@return how threads share rows of a width}
   *
   * @param width of a row, or of a group
   * @param isAlone whether a warp must not do several rows at once. Teams that add 32 rows up are
   *     few, so they are warps at least
   */
  public static Form of(int width, boolean isAlone) {
    return width > WARP_WIDTH ? BLOCK : width > NARROW_WIDTH || isAlone ? WARP : NARROW;
  }

  /** The most threads of a block. */
  int mostThreads() {
    return SumOrder.LANES * (this == BLOCK ? MOST_WARPS : WARPS_OF_ROWS);
  }

  /** Warps that share a row of a width: one for each of its blocks, if there are not too many. */
  int warps(int width) {
    int blocks = (int) (((long) width + SumOrder.BLOCK - 1) / SumOrder.BLOCK);
    return this == BLOCK ? Math.clamp(blocks, 1, MOST_WARPS) : 1;
  }
}
