package io.github.rmsnorm4j.studies.train;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What a study of depth shows, in sentences. */
final class DepthVerdicts {
  private final Results results;
  private final Plan plan;

  DepthVerdicts(Results results) {
    this.results = results;
    plan = results.plan();
  }

  /** Which stacks came under the limit of loss, what the limit means, and what differs. */
  List<String> all() {
    Map<String, List<Row>> kinds = new LinkedHashMap<>();
    for (Row row : results.rows()) {
      kinds.computeIfAbsent(row.contender().kind(), k -> new ArrayList<>()).add(row);
    }
    List<String> sentences = new ArrayList<>();
    kinds.forEach((kind, rows) -> sentences.add(underLimit(kind, rows)));
    sentences.add(limit());
    if (plan.task().isRecall()) {
      sentences.add(learned());
    }
    sentences.addAll(differences());
    return sentences;
  }

  private String underLimit(String kind, List<Row> rows) {
    List<Integer> under = new ArrayList<>();
    List<Integer> over = new ArrayList<>();
    for (Row row : rows) {
      (isUnderLimit(row) ? under : over).add(row.contender().layers());
    }
    String depths;
    if (over.isEmpty()) {
      depths = "at every depth from %s to %s blocks".formatted(under.getFirst(), under.getLast());
    } else if (under.isEmpty()) {
      depths = "at no depth from %s to %s blocks".formatted(over.getFirst(), over.getLast());
    } else {
      depths = "in stacks of %s blocks, and not of %s".formatted(joined(under), joined(over));
    }
    return "%s: a final loss under %s nats with every seed %s."
        .formatted(Verdicts.capital(kind), nats(plan.task().trainedBelow()), depths);
  }

  private static String joined(List<Integer> depths) {
    return depths.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  private boolean isUnderLimit(Row row) {
    return row.diverged() == 0
        && results.reported(row.contender()).stream()
            .allMatch(o -> o.loss() < plan.task().trainedBelow());
  }

  private String limit() {
    Task task = plan.task();
    if (!task.isRecall()) {
      return "%s nats is three quarters of the loss of a guess among all characters."
          .formatted(nats(task.trainedBelow()));
    }
    return ("%s nats is halfway from a guess among all values (%s nats) to a guess among the %s values"
            + " of a sequence (%s nats). A model under it has begun to use the sequence. It need not have"
            + " learned which value belongs to a key.")
        .formatted(
            nats(task.trainedBelow()),
            nats(Math.log(task.vocabulary() / 2.0)),
            task.pairs(),
            nats(Math.log(task.pairs())));
  }

  private String learned() {
    List<Row> rows = results.rows().stream().filter(r -> r.seeds() > 0).toList();
    String learned =
        rows.stream()
            .filter(r -> r.diverged() == 0 && r.lowestAccuracy() >= Verdicts.LEARNED)
            .map(Row::name)
            .collect(Collectors.joining("; "));
    String best =
        Figures.percent(rows.stream().mapToDouble(Row::accuracy).max().orElse(Double.NaN));
    return ("In %s steps %s learned the task with every seed. The best mean recall accuracy is %s; a"
            + " guess among the values of a sequence gives %s.")
        .formatted(
            Figures.count(plan.sizes().steps()),
            learned.isEmpty() ? "no stack" : learned,
            best,
            Figures.percent(1.0 / plan.task().pairs()));
  }

  /** Each stack compared with LayerNorm's of the same depth and placement. */
  private List<String> differences() {
    List<Pair> pairs = results.pairs().stream().filter(p -> p.loss().values() > 1).toList();
    if (pairs.isEmpty()) {
      return List.of();
    }
    List<String> differing =
        pairs.stream()
            .filter(p -> p.loss().excludesZero())
            .map(p -> p.one().name() + " " + interval(p))
            .toList();
    return List.of(
        ("Final loss compared with LayerNorm's at the same depth and placement, %s comparisons: %s. About one"
                + " comparison in 20 finds a difference by chance.")
            .formatted(
                pairs.size(),
                differing.isEmpty()
                    ? "no difference found"
                    : "a difference found in %s (%s), no difference found in the others"
                        .formatted(differing.size(), String.join("; ", differing))));
  }

  /** {@code +0.0105 (+0.0068 to +0.0143)}. */
  static String interval(Pair pair) {
    return "%s (%s to %s)"
        .formatted(
            Figures.difference(pair.loss().mean()),
            Figures.difference(pair.loss().low()),
            Figures.difference(pair.loss().high()));
  }

  private static String nats(double value) {
    return Figures.number("%.2f", value);
  }
}
