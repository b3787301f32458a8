package io.github.rmsnorm4j.studies.train;

import java.util.Locale;

/** Numbers as tables, pages and sentences show them. */
final class Figures {
  private Figures() {}

  /** In nats. */
  static String loss(double loss) {
    return Double.isNaN(loss) ? "diverged" : number("%.4f", loss);
  }

  /** A difference, with its sign. */
  static String difference(double difference) {
    return Double.isNaN(difference) ? "none" : number("%+.4f", difference);
  }

  /** How far values spread; a dash for one value. */
  static String spread(double deviation) {
    return Double.isNaN(deviation) ? "-" : number("%.4f", deviation);
  }

  /** {@code 1 seed}, {@code 3 seeds}. */
  static String seeds(long count) {
    return count + (count == 1 ? " seed" : " seeds");
  }

  static String percent(double part) {
    return Double.isNaN(part) ? "-" : number("%.1f %%", 100 * part);
  }

  static String millis(double millis) {
    return Double.isNaN(millis) ? "-" : number("%.2f ms", millis);
  }

  static String millisDifference(double millis) {
    return Double.isNaN(millis) ? "none" : number("%+.2f ms", millis);
  }

  static String rate(double rate) {
    return number("%.1e", rate).replace("e-0", "e-").replace(".0e", "e");
  }

  /** A mean of steps; a dash where there are none. */
  static String steps(double steps) {
    return Double.isNaN(steps) ? "-" : number("%.0f", steps);
  }

  /** A difference of steps, with its sign. */
  static String stepsDifference(double steps) {
    return Double.isNaN(steps) ? "none" : number("%+.0f", steps);
  }

  /** How many times larger one thing is than another. */
  static String ratio(double ratio) {
    return number(ratio < 10 ? "%.2f" : "%,.0f", ratio);
  }

  static String count(long count) {
    return number("%,d", count);
  }

  static String seconds(double seconds) {
    return seconds < 120 ? number("%.0f s", seconds) : number("%.0f min", seconds / 60);
  }

  static String number(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
