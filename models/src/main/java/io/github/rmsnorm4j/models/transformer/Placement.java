package io.github.rmsnorm4j.models.transformer;

/** Where a block has its norms; f is the attention or the MLP. */
public enum Placement {
  /** {@code x + f(norm(x))}, and a norm after the last block: GPT-2, Llama. */
  PRE,
  /** {@code norm(x + f(x))}: the first Transformers, BERT. */
  POST,
  /** {@code x + norm(f(norm(x)))}, and a norm after the last block: Gemma 2 and 3. */
  SANDWICH;

  boolean before() {
    return this != POST;
  }

  boolean after() {
    return this != PRE;
  }
}
