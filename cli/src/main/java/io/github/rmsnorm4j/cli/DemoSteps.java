package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** RMSNorm of the reader's numbers, one step a line, in plain double arithmetic. */
final class DemoSteps {
  private static final int LABEL_WIDTH = 14;
  private static final int LINE_WIDTH = 80;

  private final List<String> lines = new ArrayList<>();

  private DemoSteps() {}

  /**
   * Each step, and at the end what the library gives.
   *
   * @param gain as long as the row, or null for none
   * @throws IllegalArgumentException if the library refuses epsilon
   */
  static List<String> lines(double[] row, double[] gain, double epsilon) {
    RmsNorm.Builder builder =
        RmsNorm.builder(row.length).epsilon(epsilon).backend(Backend.scalar());
    RmsNorm norm = (gain == null ? builder : builder.gain(gain)).build();
    double[] fromLibrary = new double[row.length];
    norm.apply(row, fromLibrary);

    DemoSteps steps = new DemoSteps();
    double[] result = steps.show(row, gain, epsilon);
    steps.numbers("RmsNorm.apply", fromLibrary);
    double difference = largestDifference(result, fromLibrary);
    steps.lines.add("");
    steps.note(
        "The last line is the library's answer, "
            + (difference == 0
                ? "equal to the line above it."
                : "within %s of the line above it.".formatted(number(difference))));
    if (squaresOverflow(row)) {
      steps.note("The squares are beyond the range of a double; the library rescales such rows.");
    }
    return steps.lines;
  }

  private static boolean squaresOverflow(double[] row) {
    boolean finite = DoubleStream.of(row).allMatch(Double::isFinite);
    double sum = DoubleStream.of(row).map(x -> x * x).sum();
    return finite && Double.isInfinite(sum);
  }

  private double[] show(double[] row, double[] gain, double epsilon) {
    int n = row.length;
    double[] squares = DoubleStream.of(row).map(x -> x * x).toArray();
    double sum = 0;
    for (double square : squares) {
      sum += square;
    }
    double meanSquare = sum / n;
    double root = Math.sqrt(meanSquare + epsilon);
    double[] quotients = DoubleStream.of(row).map(x -> x / root).toArray();

    lines.add("RMSNorm of %s %s, step by step".formatted(n, n == 1 ? "number" : "numbers"));
    lines.add("");
    numbers("x", row);
    numbers("squares", squares);
    value("mean square", meanSquare, "the sum of the squares, %s, over %d", number(sum), n);
    value("root", root, "sqrt(%s + eps), eps = %s", number(meanSquare), number(epsilon));
    numbers("x / root", quotients);
    if (gain == null) {
      return quotients;
    }
    double[] result = new double[n];
    for (int i = 0; i < n; i++) {
      result[i] = quotients[i] * gain[i];
    }
    numbers("gain", gain);
    numbers("times gain", result);
    return result;
  }

  private void note(String text) {
    lines.addAll(Paragraph.lines("  ", text));
  }

  private void value(String label, double value, String origin, Object... arguments) {
    lines.add(
        "  %-14s%12s  = %s"
            .formatted(label, number(value), String.format(Locale.ROOT, origin, arguments)));
  }

  /** The numbers under each other, column by column, on as many lines as they need. */
  private void numbers(String label, double[] values) {
    int perLine = (LINE_WIDTH - 2 - LABEL_WIDTH) / 12;
    for (int from = 0; from < values.length; from += perLine) {
      String columns =
          DoubleStream.of(values)
              .skip(from)
              .limit(perLine)
              .mapToObj(value -> "%12s".formatted(number(value)))
              .collect(Collectors.joining());
      lines.add("  %-14s%s".formatted(from == 0 ? label : "", columns));
    }
  }

  private static double largestDifference(double[] a, double[] b) {
    double largest = 0;
    for (int i = 0; i < a.length; i++) {
      // Equal infinities and two NaN are no difference.
      if (Double.compare(a[i], b[i]) != 0) {
        largest = Math.max(largest, Math.abs(a[i] - b[i]));
      }
    }
    return largest;
  }

  /** At most ten characters: four decimals where they tell something, else powers of ten. */
  private static String number(double value) {
    double size = Math.abs(value);
    if (value == 0) {
      return "0";
    }
    boolean plain = size >= 0.001 && size < 100_000;
    return String.format(Locale.ROOT, plain ? "%.4f" : "%.3e", value);
  }
}
