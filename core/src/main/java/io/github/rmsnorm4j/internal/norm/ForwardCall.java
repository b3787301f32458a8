package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;

/**
 * One call of a norm, checked: everything that does not change from row to row.
 *
 * @param residual what x is added to, and where the sum goes; or null
 * @param gain float[] or double[] of the arithmetic's type, with its offset, or null
 * @param gainType the type that the gain was given in, null without one
 * @param bias float[] or double[], or null
 * @param kept whether gain and bias are those of the norm, which never change
 * @param mean where to leave each row's mean, or null
 * @param rstd where to leave each row's rstd, or null
 */
public record ForwardCall(
    NormChoices choices,
    RowMemory x,
    RowMemory residual,
    RowMemory y,
    Object gain,
    ElementType gainType,
    Object bias,
    boolean kept,
    double[] mean,
    double[] rstd) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return x.type() == ElementType.FLOAT64;
  }

  /** Whether all rows are bfloat16, and no parameter would have to be put in order for a call. */
  boolean isPaired() {
    return choices.part() == choices.width()
        && RowMemory.areBfloat16(x, residual, y)
        && (kept || gain == null && bias == null);
  }

  /** The type of 16 bits that a row is rounded to before the gain, or null. */
  ElementType cast() {
    if (float64()) {
      return null;
    }
    ElementType type =
        switch (choices.order()) {
          case FLOAT32 -> null;
          case LLAMA, ONNX -> x.type();
          case T5 -> gainType;
        };
    return type != null && type.bytes() == Short.BYTES ? type : null;
  }
}
