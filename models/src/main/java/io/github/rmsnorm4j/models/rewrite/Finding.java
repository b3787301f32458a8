package io.github.rmsnorm4j.models.rewrite;

/**
 * One thing that a proof compared, in all its places.
 *
 * @param what what was compared
 * @param count how many numbers were compared, or tensors
 * @param largest the largest difference as a share of its bound
 * @param where the place of the largest difference
 */
public record Finding(String what, long count, double largest, String where) {

  /** {@return whether each difference is within its bound: the largest share is at most 1} */
  public boolean holds() {
    return largest <= 1;
  }
}
