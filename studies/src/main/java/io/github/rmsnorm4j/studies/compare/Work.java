package io.github.rmsnorm4j.studies.compare;

/**
 * What a pass does to each element.
 *
 * @param passes how often a tensor is read or written from end to end
 * @param operations additions, subtractions and multiplications; per-row ones are left out
 */
public record Work(int passes, int operations) {
  /** The same operations where the row stays in the cache: each tensor is touched once. */
  Work fused(Pass pass) {
    return new Work(pass == Pass.FORWARD ? 2 : 3, operations);
  }
}
