package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;

/**
 * What a norm is, apart from its gain and bias.
 *
 * @param centred LayerNorm if true, RMSNorm if not
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
    int vectorBits) {

  /** Whether rows are divided by their root, and not multiplied by its reciprocal. */
  boolean divides() {
    return order == CastOrder.ONNX;
  }
}
