package io.github.rmsnorm4j;

/**
 * How a {@link Quantizer} rounds a number to an integer code. Codes of {@link QuantizedType#Q8_K}
 * are always rounded to even, and so are FP8 codes.
 */
public enum CodeRounding {
  /** To nearest, ties to even: vectors of llama.cpp on x86 and ARM, vLLM, ONNX. */
  EVEN,
  /** To nearest, ties away from zero: C's {@code roundf} in the reference code of ggml. */
  AWAY,
  /**
   * Half is added, and the sum is cut off towards zero, as Jlama's vectors do: a number below -0.5
   * gets a code that is one too near to zero, unless it is halfway between two integers.
   */
  HALF_ADDED
}
