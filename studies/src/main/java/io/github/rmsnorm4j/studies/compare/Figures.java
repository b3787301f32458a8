package io.github.rmsnorm4j.studies.compare;

import java.util.Locale;

/** Numbers as the reader meets them, in the table, on the page and in the sentences. */
final class Figures {
  private static final String[] TIMES = {"ns", "µs", "ms", "s"};
  private static final String[] SIZES = {"bytes", "KiB", "MiB", "GiB", "TiB"};

  private Figures() {}

  /** Three digits and a unit: {@code 2.61 s}. */
  static String time(double nanos) {
    int unit = timeUnit(nanos);
    return digits(nanos / Math.pow(1000, unit)) + " " + TIMES[unit];
  }

  /** From the lowest to the highest, with the unit once: {@code 2.60 to 2.70 s}. */
  static String times(double lowest, double highest) {
    int unit = timeUnit(highest);
    double scale = Math.pow(1000, unit);
    return digits(lowest / scale) + " to " + digits(highest / scale) + " " + TIMES[unit];
  }

  private static int timeUnit(double nanos) {
    int unit = 0;
    while (unit < TIMES.length - 1 && nanos >= 999.5) {
      nanos /= 1000;
      unit++;
    }
    return unit;
  }

  /** Binary units, as memory has them: {@code 2.00 GiB}. */
  static String bytes(double bytes) {
    int unit = 0;
    double left = bytes;
    while (unit < SIZES.length - 1 && left >= 999.5) {
      left /= 1024;
      unit++;
    }
    return (unit == 0 ? number("%.0f", left) : digits(left)) + " " + SIZES[unit];
  }

  /** In 10^9: {@code 20.1}. */
  static String billions(double perSecond) {
    return digits(perSecond / 1e9);
  }

  /** How many times. */
  static String ratio(double ratio) {
    return ratio < 0.0995 ? number("%.3f", ratio) : digits(ratio);
  }

  static String error(double error) {
    return error == 0 ? "0" : number("%.0e", error);
  }

  static String count(long count) {
    return number("%,d", count);
  }

  private static String digits(double value) {
    return number(value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
  }

  private static String number(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
