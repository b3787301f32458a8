package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.kernel.Frame;
import org.jspecify.annotations.Nullable;

/** What one thread runs on the rows of a call. */
public interface Worker extends AutoCloseable {
  /**
   * Does rows, one after the other. If the call takes mean or rstd of rows, they are written: rstd
   * is rounded to float32 unless the arithmetic is float64. If it has them from a forward pass, the
   * numbers of the rows begin with them; a mean that was not kept is 0.
   *
   * @param from the first row
   * @param to the row after the last one
   * @param sums where sums over rows are added, by place: float[] or double[] as the arithmetic is;
   *     null where there are none
   * @return how many rows are done; it stops before rows that are out of range and that it does not
   *     serve
   */
  long run(long from, long to, @Nullable Object @Nullable [] sums);

  /** Whether it does rows that are not all at one stride, see {@link Call#period}. */
  default boolean crossesPeriods() {
    return false;
  }

  /**
   * Gives the numbers of the rows at which it stopped to the first rows of a frame: the given ones,
   * and those that the steps before the one with ranges leave. Plain Java continues there, so these
   * steps must be those of {@link PlainBackEnd}: they store the same rows.
   *
   * @return how many rows these are, at least one
   */
  int stoppedAt(Frame into);

  /** Drops references to the call. */
  @Override
  void close();
}
