package io.github.rmsnorm4j;

/** Where epsilon goes. In the formulas of rstd, m is the mean square of a row, or its variance. */
public enum EpsilonPlacement {
  /**
   * {@code 1 / sqrt(m + eps)}, as in every framework. A row of zeros is multiplied by 1 /
   * sqrt(eps).
   */
  INSIDE,

  /**
   * {@code 1 / (sqrt(m) + eps)}, as in the code published with the paper. A row of zeros is
   * multiplied by 1 / eps.
   */
  OUTSIDE,

  /**
   * {@code 1 / max(sqrt(m), eps)}, as {@code torch.nn.functional.normalize} does with the L2 norm.
   * Epsilon has no effect on rows whose sqrt(m) is larger. An L2 norm whose floor is 0 has rstd 0
   * for a row of zeros.
   */
  FLOOR
}
