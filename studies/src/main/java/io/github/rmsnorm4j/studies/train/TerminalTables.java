package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.List;

/** The results as text, no wider than 80 columns. */
public final class TerminalTables {
  private static final String ROW = "%-25s %7s %9s %7s %8s %9s %5s";
  private static final String SPLIT = "%-25s %9s %9s %9s %9s";

  private TerminalTables() {}

  /** All of it. */
  public static List<String> lines(Results results) {
    List<String> lines = new ArrayList<>();
    Plan plan = results.plan();
    lines.addAll(
        Paragraph.lines(
            "",
            "%s, %s steps of %s x %s tokens, %s each"
                .formatted(
                    plan.task().name(),
                    plan.sizes().steps(),
                    plan.sizes().batch(),
                    plan.task().sequence(),
                    Figures.seeds(plan.seeds().size()))));
    lines.add("");
    lines.add(row("", "rate", "loss", "+-", "right", "step", "seeds"));
    for (Row row : results.rows()) {
      lines.add(
          row(
              row.name(),
              Figures.rate(row.rate()),
              Figures.loss(row.loss().mean()),
              Figures.spread(row.loss().deviation()),
              Figures.percent(row.accuracy()),
              Figures.millis(row.stepMillis().mean()),
              row.diverged() == 0
                  ? String.valueOf(row.seeds())
                  : row.seeds() + "/" + (row.seeds() + row.diverged())));
    }
    lines.add("");
    lines.add(SPLIT.formatted("where a step's time goes", "norms", "attention", "MLP", "rest"));
    for (Row row : results.rows()) {
      lines.add(
          SPLIT.formatted(
              row.name(),
              Figures.percent(row.shares().norm()),
              Figures.percent(row.shares().attention()),
              Figures.percent(row.shares().mlp()),
              Figures.percent(row.shares().rest())));
    }
    lines.add("");
    lines.addAll(
        Paragraph.lines(
            "",
            "loss: in nats on held-out batches at the end, mean over the seeds; +-: standard"
                + " deviation; right: "
                + plan.task().unit()
                + "; step: mean over the seeds of the median step, "
                + results.circumstances().jobs()
                + " side by side."));
    lines.add("");
    new Verdicts(results).all().forEach(s -> lines.addAll(Paragraph.lines("  ", s)));
    lines.add("");
    lines.addAll(MedianTables.lines(results));
    return lines;
  }

  private static String row(String... cells) {
    return ROW.formatted((Object[]) cells).stripTrailing();
  }
}
