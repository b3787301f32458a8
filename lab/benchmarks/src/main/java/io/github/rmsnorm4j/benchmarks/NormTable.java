package io.github.rmsnorm4j.benchmarks;

import static io.github.rmsnorm4j.benchmarks.Table.micros;
import static io.github.rmsnorm4j.benchmarks.Table.text;

import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/** The norms on one thread, with their targets and how many of them are met. */
final class NormTable {
  private static final String HEAD =
      """
      | one thread | µs | against | µs | ratio isolated | mixed | target | verdict | mixed / isolated |
      | --- | ---: | --- | ---: | ---: | ---: | --- | --- | ---: |
      """;
  private final Results results;
  private final int bits;
  private final List<String> missed = new ArrayList<>();
  private final String norms;
  private int targets;

  private NormTable(Results results) {
    this.results = results;
    bits = results.machine().vectorBits();
    norms = norms(); // Last, because it counts the targets.
  }

  static String of(Results results) {
    NormTable table = judging(results);
    return table.summary() + table.norms;
  }

  /** The table, which knows how many targets there are and how many of them are missed. */
  static NormTable judging(Results results) {
    return new NormTable(results);
  }

  int targets() {
    return targets;
  }

  int missed() {
    return missed.size();
  }

  /** The ratio of a row in the JVM with the median ratio, as the table has it. */
  static OptionalDouble ratio(Results results, String title, boolean polluted) {
    List<Times> times = times(results, title, polluted);
    return times.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(middle(times).ratio());
  }

  private String summary() {
    return text(
        "Of the %d targets that are set for %d-bit vectors, %d are met.%s\n\n",
        targets,
        bits,
        targets - missed.size(),
        missed.isEmpty() ? "" : " Missed: " + String.join("; ", missed) + ".");
  }

  private String norms() {
    StringBuilder table = new StringBuilder(HEAD);
    for (Row row : Row.all(bits)) {
      List<Times> alone = times(row, false);
      List<Times> polluted = times(row, true);
      if (!alone.isEmpty() || !polluted.isEmpty()) {
        table.append(norm(row, alone, polluted));
      }
    }
    return table.append('\n').toString();
  }

  private List<Times> times(Row row, boolean polluted) {
    return times(results, row.title(), polluted);
  }

  /** A row's times in each JVM, the lowest ratio first. */
  private static List<Times> times(Results results, String title, boolean polluted) {
    return results.figures().stream()
        .filter(figure -> figure.row().equals(title) && figure.polluted() == polluted)
        .map(Results.Figure::times)
        .sorted(Comparator.comparing(Times::ratio))
        .toList();
  }

  private String norm(Row row, List<Times> alone, List<Times> polluted) {
    Times shown = middle(alone.isEmpty() ? polluted : alone);
    return text(
        "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
        row.title(),
        micros(shown.subject()),
        row.baselineTitle(),
        micros(shown.baseline()),
        ratio(alone),
        ratio(polluted),
        target(row),
        verdict(row, alone, polluted),
        pollution(row, alone, polluted));
  }

  /** The JVM with the median ratio: the compiler does not make the same code in every JVM. */
  private static Times middle(List<Times> byRatio) {
    return byRatio.get(byRatio.size() / 2);
  }

  private static String ratio(List<Times> byRatio) {
    if (byRatio.size() < 2) {
      return byRatio.isEmpty() ? "" : text("%.2f", middle(byRatio).ratio());
    }
    return text(
        "%.2f (%.2f to %.2f)",
        middle(byRatio).ratio(), byRatio.getFirst().ratio(), byRatio.getLast().ratio());
  }

  private static boolean isWithin(double limit, List<Times> byRatio) {
    return byRatio.isEmpty() || asShown(middle(byRatio).ratio()) <= limit;
  }

  private String target(Row row) {
    int width = row.targetBits(bits);
    return switch (width) {
      case Row.NO_TARGET -> "";
      case Row.ANY_WIDTH -> text("at most %s", row.targets().get(width));
      default -> text("at most %s at %d bits", row.targets().get(width), width);
    };
  }

  private String verdict(Row row, List<Times> alone, List<Times> polluted) {
    int width = row.targetBits(bits);
    if (width == Row.NO_TARGET) {
      return "";
    }
    double limit = row.targets().get(width);
    boolean metAlone = isWithin(limit, alone);
    boolean metPolluted = isWithin(limit, polluted);
    if (width != Row.ANY_WIDTH && width != row.bits(bits)) {
      return metAlone && metPolluted ? "met here too" : "not set for this width";
    }
    targets++;
    if (metAlone && metPolluted) {
      return "met";
    }
    missed.add(row.title() + (metAlone ? " (mixed)" : ""));
    return metAlone ? "**missed** mixed" : "**missed**";
  }

  private String pollution(Row row, List<Times> alone, List<Times> polluted) {
    if (alone.isEmpty() || polluted.isEmpty()) {
      return "";
    }
    double ratio = time(polluted) / time(alone);
    targets++;
    if (asShown(ratio) <= Row.POLLUTED_TARGET) {
      return text("%.2f", ratio);
    }
    missed.add(text("%s (mixed %.2f times isolated)", row.title(), ratio));
    return text("**%.2f**", ratio);
  }

  /** The norm's own time in the middle JVM. The baseline is the same code in all of them. */
  private static double time(List<Times> jvms) {
    return Samples.median(jvms.stream().map(times -> Samples.median(times.subject())).toList());
  }

  /** Verdicts judge the figure as the table shows it. */
  private static double asShown(double ratio) {
    return Math.round(ratio * 100) / 100.0;
  }
}
