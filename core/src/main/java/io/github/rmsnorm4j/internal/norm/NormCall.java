package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/**
 * One call of a norm, checked: everything that does not change from row to row.
 *
 * @param residual what x is added to, and where the sum goes; or null
 * @param gain float[] or double[] of the arithmetic's type, with its offset, or null
 * @param gainType the type that the gain was given in, null without one
 * @param bias float[] or double[], or null
 * @param mean where to leave each row's mean, or null
 * @param rstd where to leave each row's rstd, or null
 */
public record NormCall(
    NormChoices choices,
    RowMemory x,
    RowMemory residual,
    RowMemory y,
    Object gain,
    ElementType gainType,
    Object bias,
    double[] mean,
    double[] rstd) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return x.type() == ElementType.FLOAT64;
  }

  /**
   * Whether the statistic's kernel adds the rows to the residual where that lies, on its way: where
   * both are float32, and no row has to be read twice before its sum is known.
   */
  public boolean addsOnTheWay() {
    return residual != null
        && residual.direct()
        && x.direct()
        && x.type() == ElementType.FLOAT32
        && choices.part() == choices.width()
        && choices.width() <= RowSum.SUPER_BLOCK;
  }

  /** The type of 16 bits that a row is rounded to before the gain, or null. */
  ElementType rounding() {
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
