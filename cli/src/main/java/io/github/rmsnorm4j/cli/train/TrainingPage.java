package io.github.rmsnorm4j.cli.train;

import java.util.ArrayList;
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
    boolean timed = !results.plan().isDepth(); // A study of depth may run on a machine in use.
    List<String> titles =
        new ArrayList<>(
            List.of("", "rate", "loss", "deviation", results.plan().task().unit(), "worst seed"));
    if (timed) {
      titles.addAll(List.of("learned at step", "a step"));
    } else {
      titles.addAll(List.of("loss minus LayerNorm's", "gradient, embedding / top"));
    }
    titles.addAll(List.of("norms' share of time", "seeds", "diverged"));
    part.append("\n").append(line(titles));
    part.append("| --- |").append(" ---: |".repeat(titles.size() - 1)).append('\n');
    for (Row row : results.rows()) {
      List<String> cells =
          new ArrayList<>(
              List.of(
                  row.name(),
                  Figures.rate(row.rate()),
                  Figures.loss(row.loss().mean()),
                  Figures.spread(row.loss().deviation()),
                  Figures.percent(row.accuracy()),
                  Figures.percent(row.lowestAccuracy())));
      if (timed) {
        cells.add(Figures.steps(row.learnedAt().mean()));
        cells.add(Figures.millis(row.stepMillis().mean()));
      } else {
        cells.add(difference(results, row));
        cells.add(gradientRatios(results, row));
      }
      cells.add(Figures.percent(row.shares().norm()));
      cells.add(String.valueOf(row.seeds()));
      cells.add(String.valueOf(row.diverged()));
      part.append(line(cells));
    }
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
