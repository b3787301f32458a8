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

  /** From here on erf is 1 to the last bit of a float64. */
  private static final double ONE_FROM = 6;

  /** The function of one element, in float64. */
  double of(double x) {
    return switch (this) {
      case GELU -> 0.5 * x * (1 + erf(x * Math.sqrt(0.5)));
      case GELU_TANH -> 0.5 * x * (1 + Math.tanh(TANH_SCALE * (x + 0.044715 * x * x * x)));
      case RELU -> Math.max(x, 0);
      case SWIGLU -> throw new IllegalStateException("a gated MLP has no function of one element");
    };
  }

  /**
   * {@code erf(x) = 2 / sqrt(pi) * e^(-x^2) * sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1))}:
   * formula 7.1.6 of Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964. All terms
   * have the sign of x, so nothing cancels. The relative error is below 1e-14.
   */
  static double erf(double x) {
    if (Math.abs(x) >= ONE_FROM) {
      return Math.signum(x);
    }
    double term = x;
    double sum = x;
    for (int odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
      term *= 2 * x * x / odd;
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
}
