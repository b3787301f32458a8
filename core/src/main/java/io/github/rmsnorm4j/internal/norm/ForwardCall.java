package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;

/**
 * One checked call of a norm: everything that is the same for all rows.
 *
 * @param residual the residual, which takes the sum; or null
 * @param gain float[] or double[] as the arithmetic is, with its offset, or null
 * @param gainType the type in which the caller gave the gain, null without one
 * @param bias float[] or double[], or null
 * @param ofNorm copies of gain and bias if they are those of the norm, which never change; or null
 * @param mean takes the mean of each row, or null
 * @param rstd takes the rstd of each row, or null
 */
public record ForwardCall(
    NormChoices choices,
    RowMemory x,
    RowMemory residual,
    RowMemory y,
    Object gain,
    ElementType gainType,
    Object bias,
    MachineColumns ofNorm,
    double[] mean,
    double[] rstd) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return x.type() == ElementType.FLOAT64;
  }

  /** Whether all rows are bfloat16, and no parameter of the call would have to be reordered. */
  boolean isPaired() {
    return choices.part() == choices.width()
        && RowMemory.areBfloat16(x, residual, y)
        && (ofNorm != null || gain == null && bias == null);
  }

  /** The 16-bit type to which a row is rounded before the gain, or null. */
  ElementType cast() {
    if (float64()) {
      return null;
    }
    ElementType type =
        switch (choices.spec().castOrder()) {
          case FLOAT32 -> null;
          case LLAMA, ONNX -> x.type();
          case T5 -> gainType;
        };
    return type != null && type.bytes() == Short.BYTES ? type : null;
  }
}
