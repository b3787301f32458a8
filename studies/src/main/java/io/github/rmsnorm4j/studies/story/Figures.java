package io.github.rmsnorm4j.studies.story;

import java.util.Locale;

/** Losses as the table and the page show them. */
final class Figures {
  private Figures() {}

  /** In nats. */
  static String loss(double loss) {
    return shown("%.4f", loss);
  }

  /** A difference of losses, with its sign. */
  static String added(double added) {
    return shown("%+.4f", added);
  }

  /** There is no loss where the logits are infinite or NaN. */
  private static String shown(String format, double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : "none";
  }
}
