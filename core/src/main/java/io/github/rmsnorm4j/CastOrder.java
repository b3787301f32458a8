package io.github.rmsnorm4j;

/**
 * Where RMSNorm rounds between a row of 16-bit numbers and the output. Models with the same formula
 * differ here: {@link #FLOAT32} and {@link #LLAMA} give different results in about a quarter of the
 * elements of bfloat16 rows. Each order has the name of a model family or framework that uses it.
 * On float32 rows with a float32 gain, and on float64 rows, all orders except {@link #ONNX} give
 * the same bits.
 *
 * <p>In the formulas x is the row, r its rstd, g the gain, T the type of x and W the type of the
 * gain; {@code (v)T} is v rounded to T once. Everything else is float32, or float64 if x is
 * float64. At the end every order rounds to the type of the output.
 */
public enum CastOrder {
  /** {@code (x * r) * g}: nothing is rounded before the end. PyTorch, Gemma, OLMo 2, JAX models. */
  FLOAT32,

  /** {@code ((x * r)T) * g}: LlamaRMSNorm of Hugging Face; Qwen and Mistral. */
  LLAMA,

  /**
   * {@code ((x * r)W) * g} if W has 16 bits: T5LayerNorm of Hugging Face. Without a gain, or with a
   * gain of 32 or 64 bits, nothing is rounded before the end.
   */
  T5,

  /**
   * {@code ((x / root)T) * g}, with {@code root = sqrt(mean(x^2) + eps)}: x is divided by the root,
   * not multiplied by r. RMSNormalization-23 of ONNX with the stash type float32.
   */
  ONNX
}
