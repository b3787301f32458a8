package io.github.rmsnorm4j.cli.compare;

/** Which way through the norm. */
public enum Pass {
  /** From the input to the output. */
  FORWARD,
  /** From the output's gradient to those of the input and the parameters. */
  BACKWARD;

  /** For example {@code forward}. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
