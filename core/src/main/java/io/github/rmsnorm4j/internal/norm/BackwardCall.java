package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;

/**
 * One backward call of a norm, checked: everything that does not change from row to row.
 *
 * @param kept the input, or the output
 * @param fromOutput whether it is the output
 * @param mean of each row, null where it is not needed or is to be computed again
 * @param rstd of each row, null where it is to be computed again
 * @param residual the gradient of the residual, which is added to dx, or null
 * @param gain float[] or double[] of the arithmetic's type, with its offset, or null
 * @param bias likewise; of use only from the output
 * @param keptParameters whether gain and bias are those of the norm, which never change
 * @param gainGradient whether the gain's gradient is wanted
 * @param biasGradient whether the bias's is
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
    boolean keptParameters,
    boolean gainGradient,
    boolean biasGradient) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return kept.type() == ElementType.FLOAT64;
  }

  /** Whether all rows are bfloat16, and no parameter would have to be put in order for a call. */
  boolean isPaired() {
    return choices.part() == choices.width()
        && RowMemory.areBfloat16(kept, dy, residual, dx)
        && (keptParameters || gain == null && bias == null);
  }
}
