package io.github.rmsnorm4j.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines of at most 80 columns: sentences, and rows of numbers under each other. */
final class DemoTable {
  /** Wider rows have their RMS and mean on lines of their own. */
  private static final int NARROW = 4;

  final List<String> lines = new ArrayList<>();
  private int sections;

  void section(String title) {
    lines.add("");
    lines.add(++sections + ". " + title);
    lines.add("");
  }

  /** Lines with two spaces before each that is not empty. */
  void text(String... text) {
    for (String line : text) {
      lines.add(line.isEmpty() ? "" : "  " + line);
    }
  }

  void space() {
    lines.add("");
  }

  /** A row and what both norms make of it, with the RMS and the mean of each. */
  void rows(String label, float[] x, float[] rms, float[] layer) {
    boolean narrow = x.length <= NARROW;
    if (narrow) {
      measureHeadings(12 + 8 * x.length);
    }
    row(label, x, narrow);
    row("RMSNorm", rms, narrow);
    row("LayerNorm", layer, narrow);
    if (!narrow) {
      space();
      measureHeadings(10);
      lines.add("  %-10s%s".formatted(label, measures(x)));
      lines.add("  %-10s%s".formatted("RMSNorm", measures(rms)));
      lines.add("  %-10s%s".formatted("LayerNorm", measures(layer)));
    }
  }

  private void measureHeadings(int indent) {
    lines.add(" ".repeat(indent) + "     RMS     mean");
  }

  private void row(String label, float[] values, boolean measured) {
    String tail = measured ? "  " + measures(values) : "";
    lines.add("  %-10s%s%s".formatted(label, columns(values), tail));
  }

  private static String measures(float[] values) {
    double sum = 0;
    for (float value : values) {
      sum += value;
    }
    return column(size(values)) + " " + column(sum / values.length);
  }

  /** The root mean square. */
  static double size(float[] values) {
    double squares = 0;
    for (float value : values) {
      squares += (double) value * value;
    }
    return Math.sqrt(squares / values.length);
  }

  void sideBySide(String label, float[] left, float[] right) {
    lines.add("  %-10s%s  %s".formatted(label, columns(left), columns(right)));
  }

  private static String columns(float[] values) {
    StringBuilder columns = new StringBuilder();
    for (float value : values) {
      columns.append(column(value));
    }
    return columns.toString();
  }

  /** Four decimals in eight columns, without a minus sign before zero. */
  private static String column(double value) {
    return String.format(Locale.ROOT, "%8.4f", Math.abs(value) < 0.00005 ? 0.0 : value);
  }

  /** In a sentence: two decimals, or one digit and a power of ten. */
  static String brief(double value) {
    if (value == 0 || value >= 0.01) {
      return value == 0 ? "0" : String.format(Locale.ROOT, "%.2f", value);
    }
    return String.format(Locale.ROOT, "%.0e", value).replace("e-0", "e-");
  }
}
