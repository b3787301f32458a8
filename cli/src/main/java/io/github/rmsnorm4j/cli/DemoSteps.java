package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
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
    double[] fromLibrary = output(RmsNorm.builder(row.length).epsilon(epsilon), row, gain);
    DemoSteps steps = new DemoSteps();
    double[] result = steps.show(row, gain, epsilon);
    steps.numbers("RmsNorm.apply", fromLibrary);
    steps.numbers("LayerNorm", output(LayerNorm.builder(row.length).epsilon(epsilon), row, gain));
    double difference = largestDifference(result, fromLibrary);
    steps.lines.add("");
    steps.note(
        "RmsNorm.apply (library) "
            + (difference == 0 ? "equals" : "is within %s of".formatted(number(difference)))
            + " the line above. LayerNorm has the same eps.");
    steps.small(row, epsilon);
    if (DoubleStream.of(row).allMatch(Double::isFinite) && Double.isInfinite(sumOfSquares(row))) {
      steps.note("The squares are beyond the range of a double; the library rescales such rows.");
    }
    return steps.lines;
  }

  private static double[] output(NormBuilder<?> builder, double[] row, double[] gain) {
    builder.backend(Backend.scalar());
    double[] y = new double[row.length];
    Norm norm = (gain == null ? builder : builder.gain(gain)).build();
    norm.apply(Rows.of(row, row.length), Rows.of(y, row.length));
    return y;
  }

  /** Says what epsilon does to a row that is small beside it. */
  private void small(double[] row, double epsilon) {
    double meanSquare = sumOfSquares(row) / row.length;
    if (DoubleStream.of(row).allMatch(x -> x == 0)) {
      note(
          epsilon == 0
              ? "All numbers are 0 and there is no epsilon, so the root is 0, and 0 / 0 is NaN."
              : "All numbers are 0. Epsilon keeps the root above 0, so the result is 0.");
    } else if (epsilon == 0 && meanSquare == 0) {
      note("The squares are below the range of a double; the library rescales such rows.");
    } else if (epsilon > meanSquare) {
      note(
          "Epsilon is larger than the mean square, so the RMS of x / root is %s, not about 1."
              .formatted(number(Math.sqrt(meanSquare / (meanSquare + epsilon)))));
    }
  }

  private static double sumOfSquares(double[] row) {
    double sum = 0;
    for (double x : row) {
      sum += x * x;
    }
    return sum;
  }

  private double[] show(double[] row, double[] gain, double epsilon) {
    int n = row.length;
    double[] squares = DoubleStream.of(row).map(x -> x * x).toArray();
    double sum = sumOfSquares(row);
    double meanSquare = sum / n;
    double root = Math.sqrt(meanSquare + epsilon);
    double[] quotients = DoubleStream.of(row).map(x -> x / root).toArray();

    lines.add("RMSNorm of %s %s, step by step".formatted(n, n == 1 ? "number" : "numbers"));
    lines.add("");
    numbers("x", row);
    numbers("squares", squares);
    value("mean square", meanSquare, "the sum of the squares, %s, over " + n, sum);
    value("root", root, "sqrt(%s + eps), eps = " + number(epsilon), meanSquare);
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

  private void value(String label, double value, String origin, double of) {
    String format = format(value, of);
    lines.add(
        "  %-14s%12s  = %s"
            .formatted(label, number(value, format), origin.formatted(number(of, format))));
  }

  /** The numbers under each other, column by column, on as many lines as they need. */
  private void numbers(String label, double[] values) {
    int perLine = (LINE_WIDTH - 2 - LABEL_WIDTH) / 12;
    String format = format(values);
    for (int from = 0; from < values.length; from += perLine) {
      String columns =
          DoubleStream.of(values)
              .skip(from)
              .limit(perLine)
              .mapToObj(value -> "%12s".formatted(number(value, format)))
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

  private static String number(double value) {
    return number(value, format(value));
  }

  private static String number(double value, String format) {
    return value == 0 ? "0" : String.format(Locale.ROOT, format, value);
  }

  /**
   * One notation for the numbers of a line, with at least four digits of each in at most eleven
   * characters: decimals where these are enough, else powers of ten.
   */
  private static String format(double... values) {
    double[] sizes =
        DoubleStream.of(values).map(Math::abs).filter(v -> v > 0 && Double.isFinite(v)).toArray();
    double smallest = DoubleStream.of(sizes).min().orElse(1);
    double largest = DoubleStream.of(sizes).max().orElse(1);
    if (smallest >= 0.1 && largest < 100_000) {
      return "%.4f";
    }
    return smallest >= 0.001 && largest < 100 ? "%.6f" : "%.3e";
  }
}
