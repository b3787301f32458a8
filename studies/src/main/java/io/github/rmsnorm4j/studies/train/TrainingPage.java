package io.github.rmsnorm4j.studies.train;

import java.util.List;
import java.util.Locale;

/** The parts of docs/training.md that come from committed results. */
public final class TrainingPage {
  private static final String END = "<!-- end -->";

  private TrainingPage() {}

  /** The name of a plan's part and of its files, in lower case. */
  public static String name(Plan.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  /** What the page says of results, as Markdown. */
  static String part(Results results) {
    StringBuilder part = new StringBuilder();
    for (String sentence : new Verdicts(results).all()) {
      part.append("* ").append(sentence).append('\n');
    }
    Columns<Row> columns = columns(results);
    part.append("\n").append(line(columns.titles));
    part.append("| --- |").append(" ---: |".repeat(columns.titles.size() - 1)).append('\n');
    results.rows().forEach(row -> part.append(line(columns.row(row))));
    Results.Circumstances made = results.circumstances();
    return part.append(
            "\nMade by %s on %s, %s, %s, %s trainings side by side. [All figures](training/%s.json), [the page](training/%s.html).\n"
                .formatted(
                    "`" + made.command() + "`",
                    made.date().substring(0, 10),
                    made.machine().cpu(),
                    made.machine().java(),
                    made.jobs(),
                    name(results.plan().kind()),
                    name(results.plan().kind())))
        .toString();
  }

  private static Columns<Row> columns(Results results) {
    Columns<Row> columns =
        new Columns<Row>()
            .with("", Row::name)
            .with("rate", row -> Figures.rate(row.rate()))
            .with("loss", row -> Figures.loss(row.loss().mean()))
            .with("deviation", row -> Figures.spread(row.loss().deviation()))
            .with(results.plan().task().unit(), row -> Figures.percent(row.accuracy()))
            .with("worst seed", row -> Figures.percent(row.lowestAccuracy()));
    if (results.plan().isDepth()) { // Not timed: it may run on a machine in use.
      columns.with("loss minus LayerNorm's", row -> difference(results, row));
      columns.with("gradient, embedding / top", row -> gradientRatios(results, row));
    } else {
      columns.with("learned at step", row -> Figures.steps(row.learnedAt().mean()));
      columns.with("a step", row -> Figures.millis(row.stepMillis().mean()));
    }
    return columns
        .with("norms' share of time", row -> Figures.percent(row.shares().norm()))
        .with("seeds", row -> String.valueOf(row.seeds()))
        .with("diverged", row -> String.valueOf(row.diverged()));
  }

  private static String difference(Results results, Row row) {
    return results.pairs().stream()
        .filter(pair -> pair.one().name().equals(row.name()) && pair.loss().values() > 1)
        .map(DepthVerdicts::interval)
        .findFirst()
        .orElse("-");
  }

  private static String gradientRatios(Results results, Row row) {
    List<Double> ratios = results.gradientRatios(row.contender());
    return ratios.isEmpty()
        ? "-"
        : Figures.ratio(ratios.getFirst()) + " to " + Figures.ratio(ratios.getLast());
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }

  /**
   * The page with one part made again.
   *
   * @throws IllegalArgumentException if it has no place for the part
   */
  public static String with(String page, Results results) {
    String begin = begin(results.plan().kind());
    int from = page.indexOf(begin);
    int to = page.indexOf(END, Math.max(from, 0));
    if (from < 0 || to < 0) {
      throw new IllegalArgumentException("the page has no part " + begin);
    }
    return page.substring(0, from + begin.length())
        + "\n\n"
        + part(results)
        + "\n"
        + page.substring(to);
  }

  static String begin(Plan.Kind kind) {
    return "<!-- begin train " + name(kind) + " -->";
  }
}
