package io.github.rmsnorm4j;

/**
 * Where RMSNorm rounds between a row of 16-bit numbers and the output. Models with the same formula
 * differ here: {@link #FLOAT32} and {@link #LLAMA} give different results in about a quarter of the
 * elements of bfloat16 rows. On float32 rows with a float32 gain, and on float64 rows, all orders
 * give the same bits, except those that divide, {@link #ONNX}, {@link #DIVIDED} and {@link
 * #NONE_DIVIDED}, and {@link #GAIN_FIRST}.
 *
 * <p>In the formulas x is the row, r its rstd, g the gain, T the type of x and W the type of the
 * gain; {@code (v)T} is v rounded to T once if T has 16 bits. Everything else is float32, or
 * float64 if x is float64. At the end every order rounds to the type of the output.
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
  ONNX,

  /** {@code (x / root) * g}: ONNX Runtime, and the code published with the paper. */
  DIVIDED,

  /** {@code x * (r * g)}: Flax, whose norms multiply rstd by the gain first. */
  GAIN_FIRST,

  /**
   * {@code ((x * (r)T)T) * g}: DeepseekV4UnweightedRMSNorm of Hugging Face, which has no gain. r is
   * rounded to float32 and then to T.
   */
  ROUNDED_ROOT,

  /**
   * Every step in T, the squares too; with epsilon inside the root {@code m = (sum((x * x)T) /
   * k)T}, {@code r = (1 / sqrt((m + (eps)T)T))T} and {@code (((x * r)T) * g)T}. Liger with casting
   * mode none. A gain with an offset is {@code g = (offset + gain)T}. The sum of the squares is
   * float64, because a sum in T would depend on the order of its additions, and Liger states no
   * order. The square of a float16 number of magnitude 256 or more (bfloat16: 2^64 or more) is
   * infinity. Then r is 0, and so is the output of every finite element of the row, as there. A
   * float16 epsilon of 2^-25 (3e-8) or less is 0.
   */
  NONE,

  /**
   * {@link #NONE} with a division; with epsilon inside the root {@code root = (sqrt((m +
   * (eps)T)T))T} and {@code (((x / root)T) * g)T}. RMSNormalization-23 of ONNX with the type of the
   * row as the stash type.
   */
  NONE_DIVIDED
}
