package io.github.rmsnorm4j.models.rewrite;

/** What a model is rewritten to: in a sentence "the model is ...". */
public enum Goal {
  /** The same model whose norms have no gain and no bias. */
  FOLD,
  /** The same model with RMSNorm instead of LayerNorm. */
  CONVERT;

  @Override
  public String toString() {
    return this == FOLD ? "folded" : "converted";
  }
}
