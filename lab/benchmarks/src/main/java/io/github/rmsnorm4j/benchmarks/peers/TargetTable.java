package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.benchmarks.peers.Target.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Which targets a run meets. */
public final class TargetTable {
  private final PeerResults results;
  private final List<Integer> threads;
  private final List<String> missed = new ArrayList<>();
  private int met;

  /**
   * Judges a run.
   *
   * @param results of the run
   */
  public TargetTable(PeerResults results) {
    this.results = results;
    threads =
        results.figures().stream().map(PeerResults.Figure::threads).distinct().sorted().toList();
    for (Target target : Target.all()) {
      for (int t : threads) {
        count(target, t);
      }
    }
  }

  private void count(Target target, int threads) {
    OptionalDouble ratio = target.ratio(results, threads);
    switch (target.verdict(ratio)) {
      case MET -> met++;
      case MISSED ->
          missed.add("%s, %s, is %s".formatted(target, PeerTables.threads(threads), shown(ratio)));
      case NOT_MEASURED -> {}
    }
  }

  /** {@return the targets that are missed, a sentence each, with the figure} */
  public List<String> missed() {
    return List.copyOf(missed);
  }

  /**
   * {@return how many targets the run says anything about, met and missed ones, each number of
   * threads for itself}
   */
  public int judged() {
    return met + missed.size();
  }

  /** How many targets are met, a sentence. */
  String sentence() {
    return "Of %s targets %s are met.".formatted(judged(), met);
  }

  String markdown() {
    if (judged() == 0) {
      return "";
    }
    StringBuilder table = new StringBuilder(sentence()).append("\n\n");
    table.append("| target, mixed workload | limit |");
    threads.forEach(t -> table.append(" ").append(PeerTables.threads(t)).append(" |"));
    table.append("\n| --- | ---: |").append(" ---: |".repeat(threads.size())).append("\n");
    for (Target target : Target.all().stream().filter(this::isInRun).toList()) {
      table.append(
          "| %s: %s / %s | %s%s |"
              .formatted(
                  target.contest(),
                  target.system(),
                  target.against(),
                  target.bound() == Bound.AT_MOST ? "" : target.bound() + " ",
                  target.limit()));
      for (int t : threads) {
        table.append(cell(target, t));
      }
      table.append("\n");
    }
    return table.append("\n").toString();
  }

  private boolean isInRun(Target target) {
    return results.figures().stream()
        .anyMatch(
            f -> f.contest().equals(target.contest()) && f.entry(target.system()).isPresent());
  }

  private String cell(Target target, int threads) {
    OptionalDouble ratio = target.ratio(results, threads);
    return switch (target.verdict(ratio)) {
      case MET -> " " + shown(ratio) + " |";
      case MISSED -> " **" + shown(ratio) + "** |";
      case NOT_MEASURED -> " not there |";
    };
  }

  private static String shown(OptionalDouble ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio.getAsDouble());
  }
}
