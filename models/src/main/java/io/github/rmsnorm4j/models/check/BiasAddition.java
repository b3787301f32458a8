package io.github.rmsnorm4j.models.check;

/** How a bias is added to the product with the gain. One line for each. */
public enum BiasAddition {
  /** The product is rounded, then the sum. */
  ROUNDED,
  /** Both are rounded once, together: libtorch's LayerNorm on CPUs. */
  FUSED
}
