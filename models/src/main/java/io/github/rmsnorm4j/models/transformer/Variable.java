package io.github.rmsnorm4j.models.transformer;

import java.util.function.Supplier;

/** Activations, or a learned tensor, and their gradient, which has no memory until it is used. */
final class Variable {
  final Matrix values;
  private final Supplier<Matrix> memory;
  private Matrix gradient;

  Variable(Matrix values, Supplier<Matrix> memory) {
    this.values = values;
    this.memory = memory;
  }

  Matrix gradient() {
    if (gradient == null) {
      gradient = memory.get();
    }
    return gradient;
  }
}
