package io.github.rmsnorm4j.internal.kernel;

/** What an output kernel does to a row before gain and bias. */
public enum Scaling {
  /** Times its rstd. */
  MULTIPLIED,
  /** Divided by its root. */
  DIVIDED,
  /** Nothing: the row has been normalised. */
  NONE
}
