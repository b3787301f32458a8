package io.github.rmsnorm4j.cli.train;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What may be said of results, in sentences. A difference is said to be one only where its 95 %
 * interval leaves out 0; "no difference found" is what is said otherwise.
 */
public final class Verdicts {
  /** The recall task counts as learned from here on. */
  static final double LEARNED = 0.95;

  private final Results results;
  private final Plan plan;

  /**
   * Of results.
   *
   * @param results what came of the trainings
   */
  public Verdicts(Results results) {
    this.results = results;
    plan = results.plan();
  }

  /**
   * Everything, the answer first.
   *
   * @return sentences
   */
  public List<String> all() {
    List<String> all = new ArrayList<>();
    if (plan.isDepth()) {
      all.addAll(depth());
    } else {
      all.addAll(quality());
      all.addAll(learned());
      all.addAll(pace());
      all.addAll(speed());
    }
    all.add(limits());
    return all;
  }

  /** Loss against loss. */
  List<String> quality() {
    return results.pairs().stream().map(this::quality).toList();
  }

  private String quality(Pair pair) {
    String one = pair.one().name();
    String other = pair.other().name();
    Interval loss = pair.loss();
    if (loss.values() < 2) {
      return "No verdict on the losses of %s and %s: it takes two seeds or more that came to the end with both, here are %d."
          .formatted(one, other, loss.values());
    }
    String figures =
        "%s nats, %s to %s (mean and 95 %% interval of %s, Student's t)"
            .formatted(
                Figures.difference(loss.mean()),
                Figures.difference(loss.low()),
                Figures.difference(loss.high()),
                paired(loss, "diverged"));
    if (!loss.excludesZero()) {
      return "No difference found between the final losses of %s and %s: %s."
          .formatted(one, other, figures);
    }
    return "%s ended at a %s loss than %s: %s."
        .formatted(capital(one), loss.mean() < 0 ? "lower" : "higher", other, figures);
  }

  /** What was left out is said: it may be what a norm failed at. */
  private String paired(Interval interval, String otherwise) {
    int left = plan.seeds().size() - interval.values();
    String pairs = interval.values() + " paired seeds";
    return left == 0 ? pairs : "%s; with %d more one of them %s".formatted(pairs, left, otherwise);
  }

  /** Whether they learned what there was to learn. */
  List<String> learned() {
    List<Row> rows = results.rows();
    List<String> sentences = new ArrayList<>();
    for (Row row : rows) {
      if (row.seeds() == 0) {
        sentences.add(
            "%s diverged with every seed, of %s."
                .formatted(capital(row.name()), Figures.seeds(row.diverged())));
        continue;
      }
      String diverged = row.diverged() == 0 ? "" : "; %d more diverged".formatted(row.diverged());
      String figures =
          "%s %s, %s in the worst of %s%s"
              .formatted(
                  plan.task().unit(),
                  Figures.percent(row.accuracy()),
                  Figures.percent(row.lowestAccuracy()),
                  Figures.seeds(row.seeds()),
                  diverged);
      if (!plan.task().isRecall()) {
        sentences.add("%s: %s.".formatted(capital(row.name()), figures));
      } else if (row.lowestAccuracy() >= LEARNED && row.diverged() == 0) {
        sentences.add("%s learned the task: %s.".formatted(capital(row.name()), figures));
      } else {
        sentences.add(
            "%s did not learn the task with every seed: %s."
                .formatted(capital(row.name()), figures));
      }
    }
    if (plan.kind() == Plan.Kind.QUICK && plan.task().isRecall()) {
      sentences.add(
          "This quick run shows that training works: %s steps are too few to learn the task. The usual run, without --quick, learns it."
              .formatted(Figures.count(plan.sizes().steps())));
    }
    return sentences;
  }

  /** Steps against steps: where both solve a task, their losses at the end say little. */
  List<String> pace() {
    return results.pairs().stream()
        .filter(pair -> pair.learnedAt().values() >= 2)
        .map(this::pace)
        .toList();
  }

  private String pace(Pair pair) {
    Interval steps = pair.learnedAt();
    String one = pair.one().name();
    String other = pair.other().name();
    String figures =
        "%s, %s to %s (mean and 95 %% interval of %s; the first step with a loss under %s nats)"
            .formatted(
                Figures.stepsDifference(steps.mean()),
                Figures.stepsDifference(steps.low()),
                Figures.stepsDifference(steps.high()),
                paired(steps, "never had"),
                Figures.number("%.2f", plan.task().learnedBelow()));
    if (!steps.excludesZero()) {
      return "No difference found between the steps after which %s and %s had learned it: %s."
          .formatted(one, other, figures);
    }
    return "%s learned it after %s steps than %s: %s."
        .formatted(capital(one), steps.mean() < 0 ? "fewer" : "more", other, figures);
  }

  /** Time against time, and what a norm's time is of a step. */
  List<String> speed() {
    List<String> sentences = new ArrayList<>();
    for (Pair pair : results.pairs()) {
      if (pair.stepMillis().values() >= 2) {
        sentences.add(speed(pair));
      }
    }
    List<Row> timed = results.rows().stream().filter(r -> r.seeds() > 0).toList();
    if (!timed.isEmpty()) {
      sentences.add(
          "Norms took %s of a step; that is the most that a faster norm could save of these models' time."
              .formatted(
                  timed.stream()
                      .map(r -> Figures.percent(r.shares().norm()) + " (" + r.name() + ")")
                      .collect(Collectors.joining(", "))));
    }
    return sentences;
  }

  private static String speed(Pair pair) {
    Interval millis = pair.stepMillis();
    String one = pair.one().name();
    String other = pair.other().name();
    String figures =
        "%s against %s, difference %s to %s (95 %% interval)"
            .formatted(
                Figures.millis(pair.one().stepMillis().mean()),
                Figures.millis(pair.other().stepMillis().mean()),
                Figures.millisDifference(millis.low()),
                Figures.millisDifference(millis.high()));
    if (!millis.excludesZero()) {
      return "No difference found between the times of a step with %s and %s: %s."
          .formatted(one, other, figures);
    }
    return "A step took %s time with %s than with %s: %s."
        .formatted(millis.mean() < 0 ? "less" : "more", one, other, figures);
  }

  /** Which stacks trained, by depth. */
  List<String> depth() {
    Map<String, List<Row>> kinds = new LinkedHashMap<>();
    for (Row row : results.rows()) {
      kinds.computeIfAbsent(row.contender().kind(), k -> new ArrayList<>()).add(row);
    }
    List<String> sentences = new ArrayList<>();
    kinds.forEach((kind, rows) -> sentences.add(depth(kind, rows)));
    sentences.add(
        "\"Trained\" means that with every seed the final loss came under %s nats in %s steps, %s."
            .formatted(
                Figures.number("%.2f", plan.task().trainedBelow()),
                Figures.count(plan.sizes().steps()),
                plan.task().isRecall()
                    ? "halfway from guessing among all values to guessing among those of the sequence"
                    : "three quarters of what guessing costs"));
    results.pairs().stream()
        .filter(p -> p.one().contender().layers() == deepest())
        .map(this::quality)
        .forEach(sentences::add);
    return sentences;
  }

  private String depth(String kind, List<Row> rows) {
    List<Integer> trained = new ArrayList<>();
    List<Integer> not = new ArrayList<>();
    for (Row row : rows) {
      (isTrained(row) ? trained : not).add(row.contender().layers());
    }
    String name = capital(kind);
    if (not.isEmpty()) {
      return "%s trained at every depth from %d to %d blocks."
          .formatted(name, trained.getFirst(), trained.getLast());
    }
    if (trained.isEmpty()) {
      return "%s trained at no depth from %d to %d blocks."
          .formatted(name, not.getFirst(), not.getLast());
    }
    return "%s trained with %s blocks, and not with %s."
        .formatted(name, joined(trained), joined(not));
  }

  private static String joined(List<Integer> depths) {
    return depths.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  boolean isTrained(Row row) {
    return row.diverged() == 0
        && results.reported(row.contender()).stream()
            .allMatch(o -> o.loss() < plan.task().trainedBelow());
  }

  private int deepest() {
    return plan.contenders().stream().mapToInt(Contender::layers).max().orElseThrow();
  }

  /** What so small a run cannot show. */
  String limits() {
    long parameters = results.rows().stream().mapToLong(Row::parameters).max().orElse(0);
    Sizes sizes = plan.sizes();
    long tokens = (long) sizes.steps() * sizes.batch() * plan.task().sequence();
    double unseen =
        results.pairs().stream()
            .map(Pair::loss)
            .filter(loss -> loss.values() > 1 && !loss.excludesZero())
            .mapToDouble(Interval::halfWidth)
            .max()
            .orElse(Double.NaN);
    String hidden =
        Double.isNaN(unseen)
            ? ""
            : " Where no difference of loss was found, one below about %s nats would not have been seen."
                .formatted(Figures.loss(unseen));
    return ("So small a run (models of at most %s parameters, %s tokens a training, %s) cannot"
            + " show which norm is better in a large model, on other data or at other rates.%s")
        .formatted(
            Figures.count(parameters),
            Figures.count(tokens),
            Figures.seeds(plan.seeds().size()),
            hidden);
  }

  private static String capital(String text) {
    boolean name = text.startsWith("pRMS"); // Written so everywhere.
    return name ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
