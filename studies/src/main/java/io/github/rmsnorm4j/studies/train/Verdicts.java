package io.github.rmsnorm4j.studies.train;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What results show, in sentences. They name a difference only where its 95 % interval does not
 * contain 0, and "no difference found" otherwise.
 */
public final class Verdicts {
  /** The recall task counts as learned from here on. */
  static final double LEARNED = 0.95;

  private final Results results;
  private final Plan plan;

  /** Of results. */
  public Verdicts(Results results) {
    this.results = results;
    plan = results.plan();
  }

  /** Everything, the answer first. */
  public List<String> all() {
    List<String> all = new ArrayList<>();
    if (plan.isDepth()) {
      all.addAll(new DepthVerdicts(results).all());
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
      return "No verdict on the losses of %s and %s: it takes two or more seeds with which neither diverged, and there are %s."
          .formatted(one, other, loss.values());
    }
    String figures =
        "%s nats, %s to %s (mean and 95 %% interval of %s, Student's t)"
            .formatted(
                Figures.difference(loss.mean()),
                Figures.difference(loss.low()),
                Figures.difference(loss.high()),
                paired(loss, "diverged with one of the two"));
    if (!loss.excludesZero()) {
      return "No difference found between the final losses of %s and %s: %s."
          .formatted(one, other, figures);
    }
    return "%s ended at a %s loss than %s: %s."
        .formatted(capital(one), loss.mean() < 0 ? "lower" : "higher", other, figures);
  }

  /** Seeds that are left out are named: a norm may have failed with them. */
  private String paired(Interval interval, String otherwise) {
    int left = plan.seeds().size() - interval.values();
    String pairs = interval.values() + " paired seeds";
    return left == 0
        ? pairs
        : "%s, without %s that %s".formatted(pairs, Figures.seeds(left), otherwise);
  }

  private static String worst(Row row) {
    return row.seeds() == 1
        ? " with 1 seed"
        : ", %s in the worst of %s"
            .formatted(Figures.percent(row.lowestAccuracy()), Figures.seeds(row.seeds()));
  }

  /** Whether they learned what there was to learn. */
  List<String> learned() {
    List<Row> rows = results.rows();
    List<String> sentences = new ArrayList<>();
    for (Row row : rows) {
      if (row.seeds() == 0) {
        sentences.add(
            "%s diverged with all of %s."
                .formatted(capital(row.name()), Figures.seeds(row.diverged())));
        continue;
      }
      String diverged = row.diverged() == 0 ? "" : "; %s more diverged".formatted(row.diverged());
      String figures =
          "%s %s%s%s"
              .formatted(plan.task().unit(), Figures.percent(row.accuracy()), worst(row), diverged);
      if (!plan.task().isRecall()) {
        sentences.add("%s: %s.".formatted(capital(row.name()), figures));
      } else if (row.lowestAccuracy() >= LEARNED && row.diverged() == 0) {
        sentences.add("%s learned the task: %s.".formatted(capital(row.name()), figures));
      } else {
        sentences.add(
            "%s did not learn the task%s: %s."
                .formatted(
                    capital(row.name()), row.seeds() == 1 ? "" : " with every seed", figures));
      }
    }
    if (plan.kind() == Plan.Kind.QUICK && plan.task().isRecall()) {
      sentences.add(
          "This quick run shows that training works: %s steps are too few to learn the task. The usual run, without --quick, learns it."
              .formatted(Figures.count(plan.sizes().steps())));
    }
    return sentences;
  }

  /** Steps against steps: where both learn the task, their losses at the end show little. */
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
        "%s, %s to %s (mean and 95 %% interval of %s; learned means a loss under %s nats)"
            .formatted(
                Figures.stepsDifference(steps.mean()),
                Figures.stepsDifference(steps.low()),
                Figures.stepsDifference(steps.high()),
                paired(steps, "did not learn it with one of the two"),
                Figures.number("%.2f", plan.task().learnedBelow()));
    if (!steps.excludesZero()) {
      return "No difference found between the steps that %s and %s took to learn the task: %s."
          .formatted(one, other, figures);
    }
    return "%s took %s steps than %s to learn the task: %s."
        .formatted(capital(one), steps.mean() < 0 ? "fewer" : "more", other, figures);
  }

  /** Time against time, and the share of a step that norms take. */
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
          "Norms took %s of a step.%s"
              .formatted(
                  timed.stream()
                      .map(r -> Figures.percent(r.shares().norm()) + " (" + r.name() + ")")
                      .collect(Collectors.joining(", ")),
                  plan.kind() == Plan.Kind.QUICK
                      ? ""
                      : " A faster norm cannot save more of these models' time."));
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

  /** What a small run cannot show. */
  String limits() {
    long parameters = results.rows().stream().mapToLong(Row::parameters).max().orElse(0);
    Sizes sizes = plan.sizes();
    long tokens = (long) sizes.steps() * sizes.batch() * plan.task().sequence();
    double unseen =
        results.pairs().stream()
            .map(Pair::loss)
            .filter(loss -> loss.values() > 1 && !loss.excludesZero())
            .mapToDouble(Interval::farthest)
            .max()
            .orElse(Double.NaN);
    String hidden =
        Double.isNaN(unseen)
            ? ""
            : " Where it found no difference of loss, there may be one of up to about %s nats."
                .formatted(Figures.loss(unseen));
    return ("This run is small: models of at most %s parameters, %s tokens a training, %s. It cannot"
            + " show which norm is better in a large model, on other data or at other rates.%s")
        .formatted(
            Figures.count(parameters),
            Figures.count(tokens),
            Figures.seeds(plan.seeds().size()),
            hidden);
  }

  /** At the beginning of a sentence; pRMSNorm keeps its small letter. */
  static String capital(String text) {
    boolean name = text.startsWith("pRMS");
    return name ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
