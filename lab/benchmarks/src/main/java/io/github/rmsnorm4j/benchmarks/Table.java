package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** Results as Markdown. Every figure and every verdict is computed here, from the rounds. */
final class Table {
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

  private Table(Results results) {
    this.results = results;
    bits = results.machine().vectorBits();
  }

  static String of(Results results) {
    return new Table(results).render();
  }

  private String render() {
    return machine() + NormTable.of(results) + threads() + coldStarts();
  }

  private String machine() {
    Machine m = results.machine();
    return text(
        """
        ### %s, %d-bit vectors

        %s %d processors, %s. Java: %s, flags `%s`. Backend: %s.

        """,
        m.cpu(),
        bits,
        SourceCommit.measuredOn(results.date(), results.commit()),
        m.processors(),
        m.system(),
        m.java(),
        String.join(" ", m.flags()),
        m.backend());
  }

  private String threads() {
    if (results.threads().isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder(THREADS_HEAD);
    OptionalLong pays =
        results.threads().reversed().stream()
            .takeWhile(size -> size.times().ratio() < 1)
            .mapToLong(Results.ThreadTimes::bytes)
            .min();
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
        pays.isEmpty()
            ? "Two threads never took less time than one."
            : "Two threads take less time than one from " + bytes(pays.getAsLong()) + " on.";
    return from + "\n\n" + table + "\n";
  }

  private String coldStarts() {
    if (results.coldStarts().isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder(COLD_HEAD);
    for (Results.ColdStart start : results.coldStarts()) {
      table.append(text("| %s | %.0f |\n", start.what(), start.millis()));
    }
    return table.append('\n').toString();
  }

  static String micros(List<Double> nanos) {
    double micros = Samples.median(nanos) / 1000;
    return text(micros < 10 ? "%.2f" : micros < 100 ? "%.1f" : "%.0f", micros);
  }

  private static String bytes(long bytes) {
    return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }

  static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
