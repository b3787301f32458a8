package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.Gate;

/** The activation of a gate, and its derivative, as docs/numerics.md defines them. */
final class Activation {
  private Activation() {}

  /** What the norm or its input is multiplied by. */
  static Value of(Gate gate, Value z) {
    return (gate == Gate.SIGMOID ? one(z) : z).over(Exponential.ofNegativePlusOne(z));
  }

  /** The same in a backward pass, which has the sigmoid already. */
  static Value ofBackward(Gate gate, Value z) {
    Value sigmoid = of(Gate.SIGMOID, z);
    return gate == Gate.SIGMOID ? sigmoid : z.times(sigmoid);
  }

  /** {@code s * (1 - s)}, or of SiLU {@code s * (1 + z * (1 - s))}. */
  static Value derivative(Gate gate, Value z) {
    Value one = one(z);
    Value sigmoid = of(Gate.SIGMOID, z);
    Value rest = one.minus(sigmoid);
    return sigmoid.times(gate == Gate.SIGMOID ? rest : one.plus(z.times(rest)));
  }

  private static Value one(Value z) {
    return Value.literal(1.0, z.float64());
  }
}
