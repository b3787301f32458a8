package io.github.rmsnorm4j;

/** The least scale that a {@link Quantizer} gives a block. Types of ggml have none. */
public enum ScaleFloor {
  /** None: a block of zeros has the scale 0. */
  NONE,
  /**
   * That of vLLM: 2^-23 for int8 codes, and for FP8 codes 1 / (512 m), where m is the largest
   * number of the type.
   */
  VLLM
}
