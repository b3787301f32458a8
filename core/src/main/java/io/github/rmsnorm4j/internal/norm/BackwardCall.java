package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;

/**
 * One checked backward call of a norm: everything that is the same for all rows.
 *
 * @param kept the input, or the output
 * @param fromOutput whether kept is the output
 * @param mean the mean of each row; null if it is not needed or must be computed again
 * @param rstd the rstd of each row; null if it must be computed again
 * @param residual the gradient of the residual, which is added to dx, or null
 * @param gain float[] or double[] as the arithmetic is, with its offset, or null
 * @param bias float[] or double[], used only with the output, or null
 * @param ofNorm copies of gain and bias if they are those of the norm, which never change; or null
 * @param gainGradient whether the gradient of the gain is wanted
 * @param biasGradient whether the gradient of the bias is wanted
 */
public record BackwardCall(
    NormChoices choices,
    RowMemory dy,
    RowMemory kept,
    boolean fromOutput,
    double[] mean,
    double[] rstd,
    RowMemory residual,
    RowMemory dx,
    Object gain,
    Object bias,
    MachineColumns ofNorm,
    boolean gainGradient,
    boolean biasGradient) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return kept.type() == ElementType.FLOAT64;
  }

  /** Whether all rows are bfloat16, and no parameter of the call would have to be reordered. */
  boolean isPaired() {
    return choices.part() == choices.width()
        && RowMemory.areBfloat16(kept, dy, residual, dx)
        && (ofNorm != null || gain == null && bias == null);
  }
}
