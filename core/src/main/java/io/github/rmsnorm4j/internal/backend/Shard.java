package io.github.rmsnorm4j.internal.backend;

/**
 * The elements that one owner has of rows in a call, and how it exchanges numbers with the others.
 *
 * @param rowWidth the elements of a row, those of all owners
 * @param from its first element, the first of a block
 * @param to the end of its elements: that of a block, or of the row
 */
public record Shard(int rowWidth, int from, int to, Exchange exchange) {
  /** Gives this owner's numbers, those of a range, to all others, and takes theirs. */
  @FunctionalInterface
  public interface Exchange {
    void gather(double[] numbers, int from, int to);
  }
}
