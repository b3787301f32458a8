package io.github.rmsnorm4j.studies.compare;

import java.util.Locale;

/** Which way through the norm. */
public enum Pass {
  /** From the input to the output. */
  FORWARD,
  /** From the output's gradient to those of the input and the parameters. */
  BACKWARD;

  /** For example {@code forward}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
