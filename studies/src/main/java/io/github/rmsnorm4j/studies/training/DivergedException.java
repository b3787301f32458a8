package io.github.rmsnorm4j.studies.training;

import java.util.Locale;

/**
 * Training has come to a loss or a gradient that is no number; the weights are those of the step
 * before.
 */
public final class DivergedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DivergedException(String what, double value, long step, double rate) {
    super(
        String.format(
            Locale.ROOT,
            "%s is %s at step %s, at a rate of %.3g; the weights are those of the step before: a lower rate or a longer warm-up may help",
            what,
            value,
            step,
            rate));
  }
}
