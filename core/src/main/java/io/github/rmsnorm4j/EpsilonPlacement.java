package io.github.rmsnorm4j;

/** Where epsilon goes; m is a row's mean square, or its variance. */
public enum EpsilonPlacement {
  /**
   * {@code 1 / sqrt(m + eps)}: every framework's. A row of zeros is multiplied by 1 / sqrt(eps).
   */
  INSIDE,

  /**
   * {@code 1 / (sqrt(m) + eps)}: the code that came with the paper. A row of zeros is multiplied by
   * 1 / eps.
   */
  OUTSIDE,

  /**
   * {@code 1 / max(sqrt(m), eps)}: as {@code torch.nn.functional.normalize} treats its norm. Rows
   * above it are not changed by epsilon at all.
   */
  FLOOR
}
