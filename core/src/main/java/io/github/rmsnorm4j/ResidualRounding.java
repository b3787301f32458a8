package io.github.rmsnorm4j;

/**
 * When the sum of row and residual is rounded to the residual's type. It makes a difference where
 * that type has 16 bits. What is stored is the rounded sum, always.
 */
public enum ResidualRounding {
  /**
   * At once: statistic and output are of the rounded sum, as if it had been added before. Models
   * run step by step, Liger, vLLM on CUDA.
   */
  FIRST,

  /**
   * After the statistic, which is of the float32 sum; the output is of the rounded. vLLM on CPUs.
   */
  BETWEEN,

  /** Only to store it: statistic and output are of the float32 sum. FlashAttention, QuACK. */
  LAST
}
