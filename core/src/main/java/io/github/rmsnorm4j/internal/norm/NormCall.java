package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.RowMemory;

/**
 * One call of a norm, checked: everything that does not change from row to row.
 *
 * @param centred LayerNorm if true, RMSNorm if not
 * @param gain float[] or double[] of the arithmetic's type, or null
 * @param bias likewise
 * @param mean where to leave each row's mean, or null
 * @param rstd where to leave each row's rstd, or null
 */
public record NormCall(
    boolean centred,
    int width,
    double epsilon,
    int vectorBits,
    RowMemory x,
    RowMemory y,
    Object gain,
    Object bias,
    double[] mean,
    double[] rstd) {

  /** Whether the arithmetic is float64. */
  boolean float64() {
    return x.type() == ElementType.FLOAT64;
  }
}
