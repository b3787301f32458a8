package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A run with other libraries as Markdown. Every figure and verdict is computed here, from rounds.
 */
public final class PeerTables {
  private final PeerResults results;

  private PeerTables(PeerResults results) {
    this.results = results;
  }

  /**
   * {@return all tables as Markdown}
   *
   * @param results of a run
   */
  public static String of(PeerResults results) {
    PeerTables tables = new PeerTables(results);
    return tables.machine()
        + new TargetTable(tables.results).markdown()
        + tables.times()
        + TrapTables.of(results);
  }

  private String machine() {
    Machine m = results.machine();
    return head("Other libraries", results)
        + """
        , flags `%s`. Backend: %s. Other systems: %s. Times of one thread are processor time, times of more threads are wall-clock time.

        """
            .formatted(
                String.join(" ", m.flags()), m.backend(), String.join(", ", results.versions()));
  }

  /** The title of tables, and what a run was measured on as the beginning of a sentence. */
  static String head(String title, PeerResults results) {
    Machine m = results.machine();
    return """
    ### %s: %s, %s-bit vectors

    %s %s processors, %s. Java: %s\
    """
        .formatted(
            title,
            m.cpu(),
            m.vectorBits(),
            SourceCommit.measuredOn(results.date(), results.commit()),
            m.processors(),
            m.system(),
            m.java());
  }

  private String times() {
    StringBuilder all = new StringBuilder();
    for (Contests.Group group : Contests.groups()) {
      List<Contest> contests =
          results.figures().stream()
              .map(Figure::contest)
              .filter(group.contests())
              .distinct()
              .toList();
      for (int threads : results.figures().stream().map(Figure::threads).distinct().toList()) {
        all.append(contests.isEmpty() ? "" : table(group.title(), contests, threads));
      }
    }
    return all.toString();
  }

  /** A row for each system, a column for each shape. */
  private String table(String title, List<Contest> contests, int threads) {
    StringBuilder table = new StringBuilder("| %s, %s |".formatted(title, threads(threads)));
    contests.forEach(c -> table.append(" %s x %s |".formatted(c.rows(), c.width())));
    table.append("\n| --- |").append(" ---: |".repeat(contests.size())).append("\n");
    List<String> systems =
        results.figures().stream()
            .filter(figure -> contests.contains(figure.contest()))
            .flatMap(figure -> figure.entries().stream().map(Entry::system))
            .distinct()
            .toList();
    for (String system : systems) {
      table.append(row(system, contests, threads, true));
      if (Systems.isJava(system)) {
        table.append(row(system, contests, threads, false));
      }
    }
    return table.append("\n").toString();
  }

  /**
   * Nothing where there is no figure; peers that are not Java are shown as isolated if only so
   * measured.
   */
  private String row(String system, List<Contest> contests, int threads, boolean polluted) {
    List<String> cells =
        contests.stream().map(c -> cell(system, figures(c, threads, polluted))).toList();
    return cells.stream().allMatch(String::isEmpty)
        ? ""
        : "| %s%s | %s |\n"
            .formatted(system, polluted ? "" : ", isolated", String.join(" | ", cells));
  }

  private List<Figure> figures(Contest contest, int threads, boolean polluted) {
    return results.figures().stream()
        .filter(f -> f.contest().equals(contest))
        .filter(f -> f.threads() == threads && f.polluted() == polluted)
        .toList();
  }

  private static String cell(String system, List<Figure> jvms) {
    List<Entry> entries =
        jvms.stream().map(f -> f.entry(system)).flatMap(Optional::stream).toList();
    if (entries.isEmpty()) {
      return "";
    }
    if (entries.getFirst().refused() != null) {
      return "refused";
    }
    String micros = micros(Samples.median(entries.stream().map(Entry::median).toList()));
    String wrong = entries.stream().anyMatch(Entry::wrong) ? ", **wrong answer**" : "";
    List<Double> ratios = jvms.stream().flatMap(f -> ratio(f, system).stream()).toList();
    return system.equals(Systems.OWN) || ratios.isEmpty()
        ? micros + wrong
        : "%s (%s)%s".formatted(micros, text("%.2f", Samples.median(ratios)), wrong);
  }

  /** This library's time over the system's, in the same JVM. */
  private static Optional<Double> ratio(Figure figure, String system) {
    return figure
        .entry(Systems.OWN)
        .filter(own -> own.refused() == null)
        .map(own -> own.median() / figure.entry(system).orElseThrow().median());
  }

  static String threads(int threads) {
    return threads == 1 ? "one thread" : threads + " threads";
  }

  /** The median of times, or nothing without one. */
  static String time(List<Double> nanos) {
    return nanos.isEmpty() ? "" : micros(Samples.median(nanos));
  }

  private static String micros(double nanos) {
    double micros = nanos / 1000;
    return text(micros < 10 ? "%.2f µs" : micros < 100 ? "%.1f µs" : "%.0f µs", micros);
  }

  static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
