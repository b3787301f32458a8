package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.function.IntSupplier;

/**
 * The choices of a norm, except its gain and bias.
 *
 * @param centred LayerNorm if true, RMSNorm if not
 * @param machineBits the width of vectors of machine code, 0 for none; found by a native call
 * @param vectorBits the width of vectors of the Vector API, 0 for plain Java; slow to find
 * @param startsPlain whether the first calls of a process take plain Java
 * @param part the number of first elements of the statistic; the width unless the norm is partial
 */
public record NormChoices(
    boolean centred,
    int width,
    int part,
    double epsilon,
    EpsilonPlacement placement,
    CastOrder order,
    ResidualRounding residual,
    IntSupplier machineBits,
    IntSupplier vectorBits,
    boolean startsPlain) {

  /** Whether a call of so many rows takes plain Java, because the process has just started. */
  boolean isStart(long rows) {
    return startsPlain && StartUp.covers(rows * width);
  }

  /** Whether rows are divided by the root, and not multiplied by its reciprocal. */
  boolean divides() {
    return order == CastOrder.ONNX;
  }
}
