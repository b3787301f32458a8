package io.github.rmsnorm4j.internal.kernel;

/**
 * The first half of a norm: row sums, in the order of {@link RowSum}.
 *
 * <p>A row lies at {@code offset} bytes into {@code base} (an absolute address where base is null).
 * Kernels trust what they are given; the public API has checked it.
 */
public interface StatisticKernel {
  /** What a kernel of this kind is specialised on. */
  record Spec(boolean float64, int vectorBits, Memory memory, boolean centred) {}

  /**
   * Sums rows of at most one super-block. For row r it leaves the sum of squares in {@code
   * work.squares[r]}; a centred kernel takes the row's first element x0 off every element first,
   * and leaves x0 in {@code work.shift[r]} and the sum of the differences in {@code work.sums[r]}.
   */
  void rows(Object base, long offset, long stride, int rows, int width, Workspace work);

  /**
   * Adds one super-block of a longer row to the lanes {@code work.rowSquares} and, if centred, with
   * {@code shift} taken off every element, {@code work.rowSums}.
   */
  void superBlock(Object base, long offset, int length, double shift, Workspace work);
}
