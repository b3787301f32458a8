package io.github.rmsnorm4j;

/** What a forward pass keeps for the backward pass; n is the width. */
public enum Keep {
  /**
   * The input, and of each row its rstd, and its mean for LayerNorm: 8 or 16 bytes a row, and the
   * input must stay as it is. The usual choice. After {@link Norm#addAndApply(Rows, Rows, Rows,
   * Saved)} it is the residual, with the sum in it, that must stay.
   */
  INPUT,

  /**
   * The output instead of the input, and of each row its rstd: 8 bytes a row, and the output must
   * stay as it is, which it often does anyway, as the input of the next layer; then the 2n or 4n
   * bytes a row of the input can be given back. No element of the gain may be 0, since the
   * normalised row is computed back as {@code (y - b) / g}, and what the output was rounded by is
   * missing from the gradients. Not for partial norms.
   */
  OUTPUT,

  /** The input and nothing else: no byte a row, and the statistic is computed again. */
  NOTHING
}
