package io.github.rmsnorm4j.cli.train;

import java.util.List;
import java.util.Locale;

/** The parts of docs/training.md that come from committed results. */
public final class TrainingPage {
  private static final String END = "<!-- end -->";

  private TrainingPage() {}

  /**
   * The name of a plan's part and of its files.
   *
   * @param kind which plan
   * @return its name in lower case
   */
  public static String name(Plan.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  /**
   * What the page says of results.
   *
   * @param results what came of a plan
   * @return Markdown
   */
  static String part(Results results) {
    StringBuilder part = new StringBuilder();
    for (String sentence : new Verdicts(results).all()) {
      part.append("* ").append(sentence).append('\n');
    }
    part.append("\n| | rate | loss | deviation | ")
        .append(results.plan().task().unit())
        .append(" | worst seed | learned at step | a step | of it norms | seeds | diverged |\n")
        .append("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (Row row : results.rows()) {
      List<String> cells =
          List.of(
              row.name(),
              Figures.rate(row.rate()),
              Figures.loss(row.loss().mean()),
              Figures.spread(row.loss().deviation()),
              Figures.percent(row.accuracy()),
              Figures.percent(row.lowestAccuracy()),
              Figures.steps(row.learnedAt().mean()),
              Figures.millis(row.stepMillis().mean()),
              Figures.percent(row.shares().norm()),
              String.valueOf(row.seeds()),
              String.valueOf(row.diverged()));
      part.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }
    Results.Circumstances made = results.circumstances();
    return part.append(
            "\n%s of %s, %s, %s, %d trainings side by side; [all figures](training/%s.json), [the page](training/%s.html).\n"
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

  /**
   * The page with one part made again.
   *
   * @param page the page
   * @param results what the part says
   * @return the page
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
