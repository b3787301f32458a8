package io.github.rmsnorm4j.models.rewrite;

/** What a model is rewritten to. */
public enum Goal {
  /** The same model whose norms have no gain and no bias. */
  FOLD("folded"),
  /** The same model with RMSNorm instead of LayerNorm. */
  CONVERT("converted");

  private final String done;

  Goal(String done) {
    this.done = done;
  }

  /** The goal in a sentence "the model is ...": {@code folded} or {@code converted}. */
  @Override
  public String toString() {
    return done;
  }
}
