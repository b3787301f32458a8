package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.report.Records;
import java.util.ArrayList;
import java.util.List;

/**
 * All results of a plan.
 *
 * @param circumstances what it ran under
 * @param plan what was trained
 * @param outcomes of every training
 */
public record Results(Circumstances circumstances, Plan plan, List<Outcome> outcomes) {

  /**
   * What a run ran under.
   *
   * @param version of the program
   * @param date when it ended
   * @param command that was given
   * @param machine what on
   * @param jobs trainings side by side
   */
  public record Circumstances(
      String version, String date, String command, Machine machine, int jobs) {}

  /** What is in the JSON file: the results, what follows from them, and the sentences. */
  record Document(
      Results results, List<Row> rows, List<Difference> differences, List<String> verdicts) {}

  /** A pair by its names. */
  record Difference(
      String one, String other, Interval loss, Interval learnedAt, Interval stepMillis) {}

  /** For programs. */
  public String json() {
    List<Difference> differences =
        pairs().stream()
            .map(
                p ->
                    new Difference(
                        p.one().name(), p.other().name(), p.loss(), p.learnedAt(), p.stepMillis()))
            .toList();
    return Records.write(new Document(this, rows(), differences, new Verdicts(this).all()));
  }

  List<Outcome> reported(Contender contender) {
    return outcomes.stream()
        .filter(o -> o.run().stage() == Stage.REPORTED && o.run().contender().equals(contender))
        .toList();
  }

  /**
   * How many times larger the gradient is at the embedding than behind the last block, in the first
   * step: one root mean square divided by the other.
   *
   * @return a ratio for each reported seed, the lowest first; empty where no depth was recorded
   */
  List<Double> gradientRatios(Contender contender) {
    return reported(contender).stream()
        .map(Outcome::before)
        .filter(depth -> !depth.isEmpty())
        .map(depth -> depth.getFirst().gradient() / depth.getLast().gradient())
        .sorted()
        .toList();
  }

  /** Of each contender, in the plan's order. */
  List<Row> rows() {
    return plan.contenders().stream()
        .map(c -> Row.of(c.name(plan.isDepth()), c, reported(c), plan.task().learnedBelow()))
        .toList();
  }

  /**
   * Each contender compared with the first; in a study of depth RMSNorm with LayerNorm at each
   * depth and placement.
   */
  List<Pair> pairs() {
    List<Row> rows = rows();
    List<Pair> pairs = new ArrayList<>();
    for (Row row : rows) {
      rows.stream()
          .filter(other -> isReference(other.contender(), row.contender()))
          .map(other -> pair(row, other))
          .forEach(pairs::add);
    }
    return pairs;
  }

  private Pair pair(Row row, Row other) {
    return Pair.of(
        row,
        reported(row.contender()),
        other,
        reported(other.contender()),
        plan.task().learnedBelow());
  }

  private boolean isReference(Contender of, Contender contender) {
    if (of.equals(contender)) {
      return false;
    }
    return plan.isDepth()
        ? of.norm() == plan.contenders().getFirst().norm()
            && of.placement() == contender.placement()
            && of.layers() == contender.layers()
        : of.equals(plan.contenders().getFirst());
  }
}
