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
   * missing from the gradients. Not for partial norms, and not from float64 rows to others or back.
   *
   * <p>So the output must have the normalised row in it. A gain so near 0 that {@code xh * g} falls
   * below the smallest numbers of the output's type leaves 0 there, or few bits: its element of
   * dgain is 0, or as bad, and dx lacks its share. One so large that it goes beyond the largest (of
   * float16 that is 65504) leaves infinity: its dx and dgain are infinite or NaN. A bias much
   * larger than {@code xh * g} rounds that away likewise. Keep the input where gains are like that.
   */
  OUTPUT,

  /**
   * The input and nothing else: no byte a row, and the statistic is computed again.
   *
   * <p>After an addition to a residual of 16 bits whose sum was normalised before it was rounded
   * ({@link ResidualRounding#LAST}, {@link ResidualRounding#BETWEEN}) this is the statistic of the
   * rounded sum, not that of the forward pass; and {@link #INPUT} has the forward's statistic with
   * the rounded sum. Only {@link #OUTPUT} goes back from what the forward pass had.
   */
  NOTHING
}
