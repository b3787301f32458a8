package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Run;
import io.github.rmsnorm4j.benchmarks.peers.Target;
import io.github.rmsnorm4j.benchmarks.peers.TargetTable;
import io.github.rmsnorm4j.measure.MarkedFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * Figures from docs/benchmarks. A file is named without its date and ending; the newest one counts.
 * The rules are:
 *
 * <ul>
 *   <li>{@code ROW; alone} or {@code ROW; polluted}: the ratio of a row to a memory copy.
 *   <li>{@code CONTEST; one thread; SYSTEM / SYSTEM} or {@code 2 threads}: the ratio of two systems
 *       in a contest, polluted. {@code CONTEST; one thread; SYSTEM; shortest} or {@code longest}: a
 *       round of one system, in milliseconds.
 *   <li>{@code cold start; WHAT}: milliseconds.
 *   <li>{@code targets} and {@code targets met}: how many.
 * </ul>
 *
 * @param folder docs/benchmarks
 */
record KeptFigures(Path folder) implements MarkedFigures.Source {
  private static final String DATE = "\\d{4}-\\d\\d-\\d\\d-";

  @Override
  public OptionalDouble figure(String results, String rule) throws IOException {
    if (results.startsWith("training/")) {
      return OptionalDouble.empty();
    }
    Path file = newest(results);
    String[] parts = rule.split("; ");
    return OptionalDouble.of(
        Run.of(file).isPresent()
            ? ofPeers(PeerResults.read(file), parts)
            : ofNorms(Results.read(file, Results.class), parts));
  }

  private Path newest(String name) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches(DATE + name + "\\.json"))
          .max(Comparator.naturalOrder())
          .orElseThrow(() -> new IllegalArgumentException("there are no results of " + name));
    }
  }

  private static double ofNorms(Results results, String... rule) {
    if (rule[0].startsWith("targets")) {
      NormTable table = NormTable.judging(results);
      return count(rule[0], table.targets(), table.missed());
    }
    if (rule.length != 2) {
      throw unknown();
    }
    return switch (rule[1]) {
      case "alone" -> NormTable.ratio(results, rule[0], false).orElseThrow(KeptFigures::unknown);
      case "polluted" -> NormTable.ratio(results, rule[0], true).orElseThrow(KeptFigures::unknown);
      default -> coldStart(results, rule);
    };
  }

  private static double coldStart(Results results, String... rule) {
    return results.coldStarts().stream()
        .filter(start -> rule[0].equals("cold start") && start.what().equals(rule[1]))
        .mapToDouble(Results.ColdStart::millis)
        .findFirst()
        .orElseThrow(KeptFigures::unknown);
  }

  private static double ofPeers(PeerResults results, String... rule) {
    if (rule[0].startsWith("targets")) {
      TargetTable table = new TargetTable(results);
      return count(rule[0], table.judged(), table.missed().size());
    }
    if (rule.length < 3) {
      throw unknown();
    }
    Contest contest =
        results.figures().stream()
            .map(Figure::contest)
            .filter(c -> c.toString().equals(rule[0]))
            .findFirst()
            .orElseThrow(KeptFigures::unknown);
    int threads = rule[1].equals("one thread") ? 1 : Integer.parseInt(rule[1].split(" ")[0]);
    if (rule.length == 4) {
      return millis(results, contest, threads, rule[2], rule[3]);
    }
    String[] systems = rule[2].split(" / ");
    if (systems.length != 2) {
      throw unknown();
    }
    return Target.ratio(results, contest, threads, systems[0], systems[1])
        .orElseThrow(KeptFigures::unknown);
  }

  private static double millis(
      PeerResults results, Contest contest, int threads, String system, String which) {
    DoubleSummaryStatistics rounds =
        results.figures().stream()
            .filter(f -> f.contest().equals(contest) && f.threads() == threads && f.polluted())
            .flatMap(figure -> figure.entry(system).stream())
            .flatMap(entry -> entry.nanos().stream())
            .mapToDouble(nanos -> nanos / 1e6)
            .summaryStatistics();
    if (rounds.getCount() == 0) {
      throw unknown();
    }
    return switch (which) {
      case "shortest" -> rounds.getMin();
      case "longest" -> rounds.getMax();
      default -> throw unknown();
    };
  }

  private static double count(String what, int targets, int missed) {
    return switch (what) {
      case "targets" -> targets;
      case "targets met" -> targets - missed;
      default -> throw unknown();
    };
  }

  private static IllegalArgumentException unknown() {
    return new IllegalArgumentException("the results have no such figure");
  }
}
