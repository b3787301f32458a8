package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** Medians of the seeds, as tables in Markdown that a terminal and a page can show. */
public final class MedianTables {
  private final Results results;
  private final List<String> lines = new ArrayList<>();

  private MedianTables(Results results) {
    this.results = results;
  }

  /** The tables of a plan. */
  public static List<String> lines(Results results) {
    MedianTables tables = new MedianTables(results);
    if (results.plan().isDepth()) {
      tables.byDepth("final loss", Outcome::loss, Figures::loss);
      tables.lines.add("");
      tables.byDepth("gradient, embedding / top", MedianTables::gradientRatio, Figures::ratio);
      tables.lines.add("");
      tables.byDepth("largest rho", MedianTables::rho, Figures::percent);
    } else {
      tables.byNorm();
    }
    return tables.lines;
  }

  private void byNorm() {
    head(List.of("medians", "loss", "worst loss", "learned at step", "a step", "norms' share"));
    double learned = results.plan().task().learnedBelow();
    for (Contender contender : results.plan().contenders()) {
      row(
          List.of(
              contender.name(false),
              Figures.loss(median(contender, Outcome::loss)),
              Figures.loss(worst(contender)),
              Figures.steps(median(contender, outcome -> outcome.firstBelow(learned))),
              Figures.millis(median(contender, Outcome::stepMillis)),
              Figures.percent(median(contender, outcome -> outcome.shares().norm()))));
    }
  }

  /** A row for each norm and placement, a column for each depth. */
  private void byDepth(
      String title, ToDoubleFunction<Outcome> value, DoubleFunction<String> figure) {
    List<String> head = new ArrayList<>(List.of(title));
    Map<String, List<String>> rows = new LinkedHashMap<>();
    for (Contender contender : results.plan().contenders()) {
      String blocks = contender.layers() + " blocks";
      if (!head.contains(blocks)) {
        head.add(blocks);
      }
      rows.computeIfAbsent(contender.kind(), kind -> new ArrayList<>(List.of(kind)))
          .add(figure.apply(median(contender, value)));
    }
    head(head);
    rows.values().forEach(this::row);
  }

  private double median(Contender contender, ToDoubleFunction<Outcome> value) {
    List<Double> values =
        ended(contender).stream()
            .mapToDouble(value)
            .filter(each -> !Double.isNaN(each))
            .boxed()
            .toList();
    return values.isEmpty() ? Double.NaN : Samples.median(values);
  }

  private double worst(Contender contender) {
    return ended(contender).stream().mapToDouble(Outcome::loss).max().orElse(Double.NaN);
  }

  private List<Outcome> ended(Contender contender) {
    return results.reported(contender).stream().filter(o -> !o.isDiverged()).toList();
  }

  /** In the first step. */
  private static double gradientRatio(Outcome outcome) {
    List<Layer> depth = outcome.before();
    return depth.isEmpty() ? Double.NaN : depth.getFirst().gradient() / depth.getLast().gradient();
  }

  /** Of a depth in the last step. */
  private static double rho(Outcome outcome) {
    return outcome.after().stream().mapToDouble(Layer::rho).max().orElse(Double.NaN);
  }

  private void head(List<String> cells) {
    row(cells);
    lines.add("| --- |" + " ---: |".repeat(cells.size() - 1));
  }

  private void row(List<String> cells) {
    lines.add("| " + String.join(" | ", cells) + " |");
  }
}
