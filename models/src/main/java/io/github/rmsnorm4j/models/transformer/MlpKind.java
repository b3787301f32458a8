package io.github.rmsnorm4j.models.transformer;

/** Which function an MLP has between its projections. */
public enum MlpKind {
  /** {@code silu(gate(x)) * up(x)}, with three projections; all other kinds have two. */
  SWIGLU,
  /** {@code x * Phi(x)}, Phi being the normal distribution, by erf. */
  GELU,
  /** GELU in its approximation by tanh. */
  GELU_TANH,
  /** {@code max(x, 0)}. */
  RELU;

  /** The square root of 2 / pi. */
  private static final double TANH_SCALE = Math.sqrt(2 / Math.PI);

  /** The function of one element, in float64. */
  double of(double x) {
    return switch (this) {
      case GELU -> 0.5 * x * (1 + Erf.of(x * Math.sqrt(0.5)));
      case GELU_TANH -> 0.5 * x * (1 + Math.tanh(TANH_SCALE * (x + 0.044715 * x * x * x)));
      case RELU -> Math.max(x, 0);
      case SWIGLU -> throw new IllegalStateException("a gated MLP has no function of one element");
    };
  }
}
