package io.github.rmsnorm4j;

/**
 * How the owners of parts of rows exchange numbers in a call of {@link NormShard}: an all-gather.
 * MPI's MPI_Allgatherv with MPI_IN_PLACE does it, and so do threads with a barrier.
 *
 * <p>All owners make the same calls in the same order, with arrays of the same length. An owner may
 * have an empty range.
 */
@FunctionalInterface
public interface SumExchange {
  /**
   * Gives numbers to all other owners, and takes those of the others. It returns when the array is
   * complete. The ranges of all owners follow each other, in the order of their parts of a row, and
   * cover the array. An owner that is alone has nothing to do.
   *
   * <p>The numbers have to arrive with all their bits. The array is used again: keep no reference
   * to it.
   *
   * <p>An exception ends the call of this owner and reaches its caller. Output and residual of rows
   * are not written before the last exchange, except those of float64 rows before one that is out
   * of range.
   *
   * @param numbers has this owner's numbers in its range, and takes those of the others at the same
   *     places as in their arrays
   * @param from where this owner's range begins
   * @param to where it ends
   */
  void gather(double[] numbers, int from, int to);
}
