package io.github.rmsnorm4j;

/**
 * Where RMSNorm rounds on its way from a row of 16-bit numbers to the output. Models that look the
 * same differ here, in a quarter of the elements of bfloat16 rows; each order is named for whose it
 * is. On float32 rows with a float32 gain all but {@link #ONNX} are the same, and on float64 rows.
 *
 * <p>In the formulas x is the row, r its rstd, g the gain, T the type of x and W that of the gain;
 * {@code (v)T} is v rounded to T once. All else is float32, or float64 where x is float64. At the
 * end every order rounds to the type of the output.
 */
public enum CastOrder {
  /** {@code (x * r) * g}: nothing is rounded before the end. PyTorch, Gemma, OLMo 2, JAX models. */
  FLOAT32,

  /** {@code ((x * r)T) * g}: LlamaRMSNorm of Hugging Face, and with it Qwen and Mistral. */
  LLAMA,

  /**
   * {@code ((x * r)W) * g}, where W has 16 bits: T5LayerNorm of Hugging Face. Without a gain, or
   * with a gain of 32 bits, nothing is rounded before the end.
   */
  T5,

  /**
   * {@code ((x / root)T) * g}, with {@code root = sqrt(mean(x^2) + eps)}: divided, not multiplied.
   * RMSNormalization-23 of ONNX with the stash type float32.
   */
  ONNX
}
