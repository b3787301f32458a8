package io.github.rmsnorm4j;

/**
 * A second row z by which a norm multiplies, and where. {@code silu(z) = z * sigmoid(z)}, {@code
 * sigmoid(z) = 1 / (1 + exp(-z))}. A norm with a gate is called with {@link Norm#applyGated}.
 */
public enum Gate {
  /** No gate. */
  NONE("none"),

  /**
   * {@code y = (norm(x) * g + b) * silu(z)}: the gated RMSNorm of Qwen3-Next and Qwen3.5, and
   * {@code norm_before_gate=True} in Mamba-2's RMSNormGated.
   */
  SILU("silu"),

  /** {@code y = (norm(x) * g + b) * sigmoid(z)}: the output norm of Kimi's KDA. */
  SIGMOID("sigmoid"),

  /**
   * {@code y = norm(x * silu(z)) * g + b}: the gated RMSNorm of Mamba-2, {@code
   * norm_before_gate=False}. A LayerNorm does not have it.
   */
  SILU_BEFORE("silu before");

  private final String text;

  Gate(String text) {
    this.text = text;
  }

  /** {@return whether the norm is multiplied, and not its input} */
  public boolean isAfter() {
    return this == SILU || this == SIGMOID;
  }

  /** The text in a {@link NormSpec}, for example {@code silu before}. */
  @Override
  public String toString() {
    return text;
  }
}
