package io.github.rmsnorm4j.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** How texts and numbers stand on a page and in messages. */
final class Printed {
  private static final MathContext DIGITS = new MathContext(4);

  private Printed() {}

  /** To four significant digits; whole numbers below 10^15 to all of theirs. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "∞" : "−∞";
    }
    if (value == 0) {
      return "0";
    }
    double size = Math.abs(value);
    if (value == Math.rint(value) && size < 1e15) {
      return minus(String.format(Locale.ROOT, "%,.0f", value));
    }
    BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
    if (size >= 1e-3 && size < 1e15) {
      return minus(String.format(Locale.ROOT, "%,." + Math.max(0, rounded.scale()) + "f", rounded));
    }
    int exponent = rounded.precision() - rounded.scale() - 1;
    return minus(rounded.scaleByPowerOfTen(-exponent).toPlainString() + "e" + exponent);
  }

  private static String minus(String number) {
    return number.replace('-', '−');
  }

  /** Text between tags or in a quoted attribute. */
  static String html(String text) {
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        case '\r', '\u2028', '\u2029' -> escaped.append('\n');
        default -> escaped.append(isControl(c) ? '\uFFFD' : c);
      }
    }
    return escaped.toString();
  }

  private static boolean isControl(char c) {
    return Character.isISOControl(c) && c != '\n' && c != '\t';
  }

  /** A name in a message of one line. */
  static String quoted(String name) {
    StringBuilder line = new StringBuilder("'");
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean breaks = Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
      line.append(breaks ? '?' : c);
    }
    return line.append('\'').toString();
  }
}
