package io.github.rmsnorm4j;

/** What a forward pass keeps for the backward pass; n is the width. */
public enum Keep {
  /**
   * The input, and the rstd of each row; for LayerNorm also its mean. This takes 8 or 16 bytes per
   * row. The input must not change until the backward pass is done; after {@link
   * Norm#addAndApply(Rows, Rows, Rows, Saved)} the residual with the sum in it must not change. The
   * usual choice.
   */
  INPUT,

  /**
   * The output instead of the input, and the rstd of each row: 8 bytes per row. The output must not
   * change until the backward pass is done. It often stays anyway, as the input of the next layer;
   * then the memory of the input, 2n or 4n bytes per row, is free for other use.
   *
   * <p>Limits: the norm must not be partial, input and output must both be float64 or neither, and
   * no element of the gain may be 0, because the normalised row xh is computed as {@code (y - b) /
   * g}. The gradients lack what was lost when the output was rounded:
   *
   * <ul>
   *   <li>A gain so near 0 that {@code xh * g} is below the smallest numbers of the output's type
   *       leaves 0 or few bits in y. The element of dgain is then 0 or has as few bits, and dx
   *       lacks the share of that element.
   *   <li>A gain so large that {@code xh * g} is beyond the largest number (65504 in float16)
   *       leaves infinity in y. Then dgain and dx are infinite or NaN.
   *   <li>A bias much larger than {@code xh * g} rounds that term away.
   * </ul>
   *
   * <p>Keep the input if gains are like that.
   */
  OUTPUT,

  /**
   * The input and nothing else: no additional byte per row. The backward pass computes the
   * statistic again, without the roundings of {@link CastOrder#NONE} and {@link
   * CastOrder#NONE_DIVIDED}.
   *
   * <p>This matters after an addition to a 16-bit residual with {@link ResidualRounding#LAST} or
   * {@link ResidualRounding#BETWEEN}, where the forward pass took the statistic of the sum before
   * it was rounded. NOTHING takes the statistic of the rounded sum. {@link #INPUT} takes the
   * statistic of the forward pass with the rounded sum. Only {@link #OUTPUT} uses what the forward
   * pass had.
   */
  NOTHING
}
