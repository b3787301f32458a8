package io.github.rmsnorm4j;

/**
 * What a {@link Quantizer} does with an element before it is rounded to an integer code. a is the
 * largest magnitude of the block, and d = a / 127, rounded to float32, is its scale. The three give
 * numbers that differ by a few roundings, and so codes that differ next to ties.
 */
public enum CodeFactor {
  /** Multiplies it by 127 / a: llama.cpp on x86, Jlama, TensorRT-LLM. */
  RATIO,
  /** Multiplies it by 1 / d: the reference code of ggml, llama.cpp on ARM, vLLM. */
  INVERSE,
  /** Divides it by d: ONNX. */
  DIVISION
}
