package io.github.rmsnorm4j;

/**
 * What a call has beside rows, gain and bias.
 *
 * @param samples the rows of gain and bias, each of which serves as many rows of x
 * @param groups the norms that a row has, one after the other
 */
record Parts(int samples, int groups, Gate gate) {
  static final Parts NONE = new Parts(1, 1, Gate.NONE);

  private static final Gate[] GATES = {Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE};

  /** Samples or groups in some calls, and a gate, for which no residual may be added, in some. */
  static Parts drawn(Draw draw, Shape shape, int choice) {
    boolean gated = (choice & Recipe.RESIDUAL) == 0 && draw.onceIn(3);
    Gate gate = gated ? gate(draw, shape) : Gate.NONE;
    return switch (draw.random.nextInt(5)) {
      case 0 -> new Parts(draw.divisor(shape.rows(), 1), 1, gate);
      case 1 -> new Parts(1, draw.divisor(shape.width(), 2), gate);
      default -> new Parts(1, 1, gate);
    };
  }

  /** The same for rows that share gain and bias. */
  Parts ofOneSample() {
    return new Parts(1, groups, gate);
  }

  /** No norm that is centred has a gate before it. */
  static Gate gate(Draw draw, Shape shape) {
    return shape.centred() ? draw.of(Gate.SILU, Gate.SIGMOID) : draw.of(GATES);
  }
}
