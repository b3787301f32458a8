package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.function.IntSupplier;

/**
 * What a norm is, apart from its gain and bias.
 *
 * @param centred LayerNorm if true, RMSNorm if not
 * @param machineBits the width of vectors of machine code, 0 for none; a native call finds it out
 * @param vectorBits the width of vectors of the Vector API, 0 for plain Java; it takes a while to
 *     find out
 * @param startsPlain whether the first calls of a process are for plain Java
 * @param part elements at the row's start that the statistic is of; the width unless partial
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

  /** Whether a call of so many rows is for plain Java, since the process has just started. */
  boolean isStart(long rows) {
    return startsPlain && StartUp.covers(rows * width);
  }

  /** Whether rows are divided by their root, and not multiplied by its reciprocal. */
  boolean divides() {
    return order == CastOrder.ONNX;
  }
}
