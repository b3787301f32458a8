package io.github.rmsnorm4j;

/**
 * When the sum of row and residual is rounded to the type of the residual. The choice matters only
 * if that type has 16 bits. The rounded sum is stored in every case.
 */
public enum ResidualRounding {
  /**
   * Before the statistic: the statistic and the output come from the rounded sum, as if the sum had
   * been computed by a separate operation. Models run operation by operation, Liger, and vLLM on
   * CUDA except for the kernels of {@link #LAST}.
   */
  FIRST,

  /**
   * Between statistic and output: the statistic comes from the float32 sum, the output from the
   * rounded sum. vLLM on CPUs.
   */
  BETWEEN,

  /**
   * Only when the sum is stored: the statistic and the output come from the float32 sum.
   * FlashAttention, QuACK, FlashInfer, and vLLM's kernels that also compute the scales of codes
   * ({@code rms_norm_dynamic_per_token_quant} and {@code rms_norm_per_block_quant}).
   */
  LAST
}
