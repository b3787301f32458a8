package io.github.rmsnorm4j.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Results as Markdown. Every figure and every verdict is computed here, from the rounds. */
final class Table {
  private static final String NORMS_HEAD =
      """
      | one thread | µs | against | µs | ratio alone | polluted | target | verdict | polluted / alone |
      | --- | ---: | --- | ---: | ---: | ---: | --- | --- | ---: |
      """;
  private static final String THREADS_HEAD =
      """
      | read and written | one thread, µs | two threads, µs | two / one |
      | ---: | ---: | ---: | ---: |
      """;
  private static final String COLD_HEAD =
      """
      | a fresh JVM that normalises 2 MiB once, with | ms |
      | --- | ---: |
      """;

  private final Results results;
  private final int bits;
  private final List<String> missed = new ArrayList<>();
  private int targets;

  private Table(Results results) {
    this.results = results;
    bits = results.machine().vectorBits();
  }

  static String of(Results results) {
    return new Table(results).render();
  }

  private String render() {
    String norms = norms(); // first, since it counts the targets
    return machine() + verdict() + norms + threads() + coldStarts();
  }

  private String machine() {
    Machine m = results.machine();
    return text(
        """
        ### %s, %d-bit vectors

        Measured on %s. %d processors, %s. Java: %s, flags `%s`. Backend: %s.

        """,
        m.cpu(),
        bits,
        results.date(),
        m.processors(),
        m.system(),
        m.java(),
        String.join(" ", m.flags()),
        m.backend());
  }

  private String verdict() {
    return text(
        "Of the %d targets that are set for %d-bit vectors, %d are met.%s\n\n",
        targets,
        bits,
        targets - missed.size(),
        missed.isEmpty() ? "" : " Missed: " + String.join("; ", missed) + ".");
  }

  private String norms() {
    StringBuilder table = new StringBuilder(NORMS_HEAD);
    for (Row row : Row.all(bits)) {
      Times alone = times(row, false);
      Times polluted = times(row, true);
      if (alone != null || polluted != null) {
        table.append(norm(row, alone, polluted));
      }
    }
    return table.append('\n').toString();
  }

  private Times times(Row row, boolean polluted) {
    return results.figures().stream()
        .filter(figure -> figure.row().equals(row.title()) && figure.polluted() == polluted)
        .map(Results.Figure::times)
        .findFirst()
        .orElse(null);
  }

  private String norm(Row row, Times alone, Times polluted) {
    Times shown = alone == null ? polluted : alone;
    return text(
        "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
        row.title(),
        micros(shown.subject()),
        row.baselineTitle(),
        micros(shown.baseline()),
        alone == null ? "" : text("%.2f", alone.ratio()),
        polluted == null ? "" : text("%.2f", polluted.ratio()),
        target(row),
        verdict(row, alone, polluted),
        alone == null || polluted == null ? "" : pollution(row, polluted.ratio() / alone.ratio()));
  }

  private String target(Row row) {
    int width = row.targetBits(bits);
    return switch (width) {
      case Row.NO_TARGET -> "";
      case Row.ANY_WIDTH -> text("at most %s", row.targets().get(width));
      default -> text("at most %s at %d bits", row.targets().get(width), width);
    };
  }

  private String verdict(Row row, Times alone, Times polluted) {
    int width = row.targetBits(bits);
    if (width == Row.NO_TARGET) {
      return "";
    }
    double limit = row.targets().get(width);
    boolean metAlone = alone == null || asShown(alone.ratio()) <= limit;
    boolean metPolluted = polluted == null || asShown(polluted.ratio()) <= limit;
    if (width != Row.ANY_WIDTH && width != row.bits(bits)) {
      return metAlone && metPolluted ? "met here too" : "not set for this width";
    }
    targets++;
    if (metAlone && metPolluted) {
      return "met";
    }
    missed.add(row.title() + (metAlone ? " (polluted)" : ""));
    return metAlone ? "**missed** polluted" : "**missed**";
  }

  private String pollution(Row row, double ratio) {
    targets++;
    if (asShown(ratio) <= Row.POLLUTED_TARGET) {
      return text("%.2f", ratio);
    }
    missed.add(text("%s (polluted %.2f times alone)", row.title(), ratio));
    return text("**%.2f**", ratio);
  }

  private String threads() {
    if (results.threads().isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder(THREADS_HEAD);
    long pays = Long.MAX_VALUE;
    for (Results.ThreadTimes size : results.threads().reversed()) {
      pays = pays > size.bytes() && size.times().ratio() < 1 ? size.bytes() : pays;
      if (size.times().ratio() >= 1) {
        break;
      }
    }
    for (Results.ThreadTimes size : results.threads()) {
      Times times = size.times();
      table.append(
          text(
              "| %s | %s | %s | %.2f |\n",
              bytes(size.bytes()),
              micros(times.baseline()),
              micros(times.subject()),
              times.ratio()));
    }
    String from =
        pays == Long.MAX_VALUE
            ? "Two threads never took less time than one."
            : "Two threads take less time than one from " + bytes(pays) + " on.";
    return from + "\n\n" + table + "\n";
  }

  private String coldStarts() {
    if (results.coldStarts().isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder(COLD_HEAD);
    for (Results.ColdStart start : results.coldStarts()) {
      table.append(text("| %s | %.0f |\n", start.what(), Times.median(start.nanos()) / 1e6));
    }
    return table.append('\n').toString();
  }

  /** Verdicts go by the figure that the reader sees. */
  private static double asShown(double ratio) {
    return Math.round(ratio * 100) / 100.0;
  }

  private static String micros(List<Double> nanos) {
    double micros = Times.median(nanos) / 1000;
    return text(micros < 10 ? "%.2f" : micros < 100 ? "%.1f" : "%.0f", micros);
  }

  private static String bytes(long bytes) {
    return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }

  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
