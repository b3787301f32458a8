package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.function.IntSupplier;

/**
 * What a norm is, apart from its gain and bias.
 *
 * @param centred LayerNorm if true, RMSNorm if not
 * @param machineBits the width of vectors of machine code, 0 for none
 * @param vectorBits the width of vectors, 0 for plain Java; it takes a while to find out
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
    int machineBits,
    IntSupplier vectorBits,
    boolean startsPlain) {

  /** The width of vectors for a call of so many rows; 0 for plain Java. */
  int vectorBits(long rows) {
    return startsPlain && StartUp.covers(rows * width) ? 0 : vectorBits.getAsInt();
  }

  /** Whether rows are divided by their root, and not multiplied by its reciprocal. */
  boolean divides() {
    return order == CastOrder.ONNX;
  }
}
