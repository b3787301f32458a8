package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.benchmarks.peers.Systems.JAVA_LOOP;

import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.Target.Verdict;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This library against the plain loop of a port as Markdown: a row for each contest, a column for
 * each {@link Start}.
 */
public final class LoopTable {
  private final PeerResults results;

  private LoopTable(PeerResults results) {
    this.results = results;
  }

  /**
   * {@return the table and how many targets are met; nothing if a run has no such contest}
   *
   * @param results of a run
   */
  public static String of(PeerResults results) {
    LoopTable table = new LoopTable(results);
    return table.results.figures().isEmpty() ? "" : table.markdown();
  }

  private String markdown() {
    Machine m = results.machine();
    TargetTable targets = new TargetTable(results);
    String head =
        """
        ### Plain loop: %s, %s-bit vectors

        %s %s processors, %s. Java: %s. Of %s targets %s are met.

        | one thread, mixed workload | the loop | %s | at most |
        | --- | ---: |%s ---: |
        """
            .formatted(
                m.cpu(),
                m.vectorBits(),
                SourceCommit.measuredOn(results.date(), results.commit()),
                m.processors(),
                m.system(),
                m.java(),
                targets.judged(),
                targets.judged() - targets.missed().size(),
                starts().map(Start::title).collect(Collectors.joining(" | ")),
                starts().map(_ -> " ---: |").collect(Collectors.joining()));
    return results.figures().stream()
        .map(PeerResults.Figure::contest)
        .distinct()
        .map(this::row)
        .collect(Collectors.joining("", head, "\n"));
  }

  private static Stream<Start> starts() {
    return Stream.of(Start.values());
  }

  private String row(Contest contest) {
    return "| %s | %s | %s | %s |\n"
        .formatted(
            contest,
            loop(contest),
            starts().map(start -> ratio(contest, start)).collect(Collectors.joining(" | ")),
            target(contest, Start.NO_FLAGS).map(t -> "" + t.limit()).orElse(""));
  }

  private static Optional<Target> target(Contest contest, Start start) {
    return Target.all().stream()
        .filter(t -> t.contest().equals(contest) && t.system().equals(start.system()))
        .findFirst();
  }

  /** In the JVMs without flags. */
  private String loop(Contest contest) {
    List<Double> times =
        results.figures().stream()
            .filter(f -> f.contest().equals(contest))
            .filter(f -> f.entry(Start.NO_FLAGS.system()).isPresent())
            .flatMap(f -> f.entry(JAVA_LOOP).stream())
            .map(Entry::median)
            .toList();
    return times.isEmpty() ? "" : PeerTables.micros(Samples.median(times));
  }

  /** This library's time over the loop's in the same JVM. */
  private String ratio(Contest contest, Start start) {
    OptionalDouble ratio = Target.ratio(results, contest, 1, start.system(), JAVA_LOOP);
    if (ratio.isEmpty()) {
      return "";
    }
    Optional<Verdict> verdict = target(contest, start).map(target -> target.verdict(ratio));
    String format = verdict.filter(Verdict.MISSED::equals).isPresent() ? "**%.2f**" : "%.2f";
    return PeerTables.text(format, ratio.getAsDouble());
  }
}
