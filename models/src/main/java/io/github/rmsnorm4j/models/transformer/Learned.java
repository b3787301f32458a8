package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;

/** A learned tensor as layers use it. Its gradient has no memory until it is asked for. */
final class Learned {
  /** The numbers. */
  final Matrix values;

  private final Weights weights;
  private final Parameter parameter;
  private Matrix gradient;

  Learned(Weights weights, Parameter parameter) {
    this.weights = weights;
    this.parameter = parameter;
    values = view(weights.values(parameter));
  }

  Matrix gradient() {
    if (gradient == null) {
      gradient = view(weights.gradient(parameter));
    }
    return gradient;
  }

  private Matrix view(MemorySegment segment) {
    return Matrix.of(segment, parameter.rows(), parameter.columns());
  }
}
