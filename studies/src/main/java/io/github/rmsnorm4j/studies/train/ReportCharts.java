package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.report.Axis;
import io.github.rmsnorm4j.report.Chart;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Series;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Loss by step and by second, time by part, loss by rate, and what depth does. */
final class ReportCharts {
  private final Results results;
  private final Plan plan;

  ReportCharts(Results results) {
    this.results = results;
    plan = results.plan();
  }

  void addTo(Page page) {
    if (plan.isDepth()) {
      page.section("By depth").chart(lossByDepth());
      depth(page, "Activations", "root mean square of the residual stream", Layer::activation);
      depth(page, "Gradients", "root mean square of the gradient", Layer::gradient);
      depth(page, "Rho", "mean^2 / mean(x^2) of a row", Layer::rho);
      return;
    }
    page.section("Loss").chart(curve("step", Point::step)).chart(curve("second", Point::seconds));
    if (!plan.tuningSeeds().isEmpty()) {
      page.chart(lossByRate());
    }
    page.section("Time").chart(shares());
  }

  /** The median over the seeds, with their whole spread. */
  private Chart curve(String by, ToDoubleFunction<Point> x) {
    Chart chart =
        Chart.titled("Loss by " + by)
            .over(
                Axis.linear(by.equals("second") ? "time since the first step (s)" : "step").from(0),
                Axis.logarithmic("training loss (nats)"));
    for (Row row : results.rows()) {
      List<Outcome> ended =
          results.reported(row.contender()).stream().filter(o -> !o.isDiverged()).toList();
      if (!ended.isEmpty()) {
        chart = chart.with(curve(row.name(), ended, x).color(row.contender().norm().color));
      }
    }
    return chart.caption(
        "Medians over the seeds, with their whole spread. The axis of the loss is logarithmic, so that small losses can be told apart.");
  }

  private static Series curve(String name, List<Outcome> ended, ToDoubleFunction<Point> x) {
    int points = ended.stream().mapToInt(o -> o.curve().size()).min().orElse(0);
    double[] at = new double[points];
    List<double[]> losses = new ArrayList<>();
    for (int i = 0; i < points; i++) {
      int point = i;
      List<Point> all = ended.stream().map(o -> o.curve().get(point)).toList();
      at[i] = all.stream().mapToDouble(x).average().orElseThrow();
      losses.add(all.stream().mapToDouble(Point::loss).toArray());
    }
    return line(name, at, losses);
  }

  /** Medians with their whole spread. */
  private static Series line(String name, double[] x, List<double[]> values) {
    return Series.line(name, x, each(values, ReportCharts::median))
        .spread(
            each(values, all -> Arrays.stream(all).min().orElse(Double.NaN)),
            each(values, all -> Arrays.stream(all).max().orElse(Double.NaN)));
  }

  private static double[] each(List<double[]> values, ToDoubleFunction<double[]> number) {
    return values.stream().mapToDouble(number).toArray();
  }

  /** NaN of none, and of a training that diverged. */
  private static double median(double... values) {
    return values.length == 0 || Arrays.stream(values).anyMatch(Double::isNaN)
        ? Double.NaN
        : Samples.median(Arrays.stream(values).boxed().toList());
  }

  private Chart lossByRate() {
    Chart chart =
        Chart.titled("Final loss by rate, where rates were chosen")
            .over(Axis.logarithmic("rate"), Axis.linear("final loss (nats)").from(0));
    double[] rates = plan.rates().stream().mapToDouble(Double::doubleValue).sorted().toArray();
    for (Contender contender : plan.contenders()) {
      List<double[]> losses =
          Arrays.stream(rates)
              .mapToObj(
                  rate ->
                      Plan.tuned(contender, rate, results.outcomes())
                          .mapToDouble(Outcome::loss)
                          .map(loss -> Double.isFinite(loss) ? loss : Double.NaN)
                          .toArray())
              .toList();
      chart = chart.with(line(contender.name(false), rates, losses).color(contender.norm().color));
    }
    return chart.caption(
        "Medians of seeds that are not reported, with the whole spread. A gap is a rate at which a training diverged.");
  }

  private Chart shares() {
    List<Row> rows = results.rows().stream().filter(r -> r.seeds() > 0).toList();
    Map<String, ToDoubleFunction<Shares>> parts = new LinkedHashMap<>();
    parts.put("norms", Shares::norm);
    parts.put("attention", Shares::attention);
    parts.put("MLP", Shares::mlp);
    parts.put("rest", Shares::rest);
    if (rows.isEmpty()) {
      return Chart.titled("Where a step's time goes").caption("Every training diverged.");
    }
    Chart chart =
        Chart.titled("Where a step's time goes")
            .over(
                Axis.categories("norm", rows.stream().map(Row::name).toList()),
                Axis.linear("time of a step (ms)").from(0));
    // Not the colors of RMSNorm and LayerNorm, which are categories here.
    int color = TrainedNorm.LAYER_NORM.color;
    for (Map.Entry<String, ToDoubleFunction<Shares>> part : parts.entrySet()) {
      double[] bars =
          rows.stream()
              .mapToDouble(r -> r.stepMillis().mean() * part.getValue().applyAsDouble(r.shares()))
              .toArray();
      chart = chart.with(Series.bars(part.getKey(), bars).color(++color));
    }
    return chart.caption("Means over the seeds.");
  }

  private Chart lossByDepth() {
    double[] depths =
        plan.contenders().stream().mapToDouble(Contender::layers).distinct().sorted().toArray();
    Chart chart =
        Chart.titled("Final loss by depth")
            .over(
                Axis.logarithmic("blocks").ticks(depths), Axis.linear("final loss (nats)").from(0));
    Map<String, List<Row>> kinds = new LinkedHashMap<>();
    results
        .rows()
        .forEach(r -> kinds.computeIfAbsent(r.contender().kind(), k -> new ArrayList<>()).add(r));
    for (Map.Entry<String, List<Row>> kind : kinds.entrySet()) {
      double[] x = kind.getValue().stream().mapToDouble(r -> r.contender().layers()).toArray();
      double[] y = kind.getValue().stream().mapToDouble(this::medianLoss).toArray();
      int color = kind.getValue().getFirst().contender().norm().color;
      chart = chart.with(Series.line(kind.getKey(), x, y).color(color));
    }
    return chart.caption("Medians over the seeds that did not diverge.");
  }

  private double medianLoss(Row row) {
    return median(
        results.reported(row.contender()).stream()
            .filter(o -> !o.isDiverged())
            .mapToDouble(Outcome::loss)
            .toArray());
  }

  /** Of the deepest stacks, in the first step and in the last one. */
  private void depth(Page page, String title, String unit, ToDoubleFunction<Layer> value) {
    page.section(title);
    page.chart(byDepth(title + " in the first step", unit, Outcome::before, value));
    page.chart(byDepth(title + " in the last step", unit, Outcome::after, value));
  }

  private Chart byDepth(
      String title,
      String unit,
      Function<Outcome, List<Layer>> when,
      ToDoubleFunction<Layer> value) {
    int deepest = plan.contenders().stream().mapToInt(Contender::layers).max().orElseThrow();
    Chart chart =
        Chart.titled(title + ", " + deepest + " blocks")
            .over(
                Axis.linear("depth").from(0),
                title.startsWith("Rho") ? Axis.linear(unit).from(0) : Axis.logarithmic(unit));
    for (Contender contender : plan.contenders()) {
      List<Outcome> reported = results.reported(contender);
      if (contender.layers() == deepest && !when.apply(reported.getFirst()).isEmpty()) {
        List<Layer> layers = when.apply(reported.getFirst());
        chart =
            chart.with(
                Series.line(
                        contender.kind(),
                        layers.stream().mapToDouble(Layer::depth).toArray(),
                        layers.stream().mapToDouble(value).toArray())
                    .color(contender.norm().color));
      }
    }
    return chart.caption("The first of the reported seeds; those that diverged have no last step.");
  }
}
