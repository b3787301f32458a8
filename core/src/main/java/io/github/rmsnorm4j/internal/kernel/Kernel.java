package io.github.rmsnorm4j.internal.kernel;

/**
 * A stage of a norm, ready to run on rows of given types and memory.
 *
 * <p>Kernels do not check their frame: the public API has checked every address.
 */
public interface Kernel {
  /**
   * Runs on elements {@code from} to {@code to} of each row of the frame's rectangles. Row sums
   * become per-row scalars; rows that are summed have at most a super-block of elements.
   */
  void run(Frame frame, int rows, int from, int to);

  /**
   * Adds the first n elements of the first row, a super-block or the last of them, to the sums of a
   * long row: after {@link RowSum#open}.
   */
  void superBlock(Frame frame, int n);

  /** Stores the sums of a long row as numbers of the first row. */
  void close(Frame frame);
}
