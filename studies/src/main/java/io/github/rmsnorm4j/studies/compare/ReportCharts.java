package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.report.Axis;
import io.github.rmsnorm4j.report.Chart;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Series;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Time and memory by size, and the roofline. */
final class ReportCharts {
  private final Results results;
  private final Timing headline;

  ReportCharts(Results results) {
    this.results = results;
    headline = results.timing(results.headline());
  }

  void addTo(Page page) {
    page.section("By size").chart(time());
    if (!results.memory().isEmpty()) {
      page.chart(memory());
    }
    if (results.computeRoof() > 0) {
      page.section("What bounds it").chart(roofline());
    }
  }

  /** Per row: whole calls differ so much in size that the variants would lie on one line. */
  private Chart time() {
    List<Timing> sweep = results.sweep();
    double[] rows = array(sweep, t -> t.subject().shape().rows());
    Chart chart =
        Chart.titled("Time per row of %s elements".formatted(results.headline().shape().width()))
            .over(
                Axis.logarithmic("rows in a call").ticks(Arrays.stream(rows).sorted().toArray()),
                Axis.logarithmic("time per row (microseconds)"));
    for (Variant v : Variant.values()) {
      chart =
          chart.with(
              Series.line(
                      v.toString(), rows, array(sweep, t -> perRow(t, t.of(v).nanos().median())))
                  .spread(
                      array(sweep, t -> perRow(t, t.of(v).nanos().lowest())),
                      array(sweep, t -> perRow(t, t.of(v).nanos().highest())))
                  .color(v.color()));
    }
    return chart
        .with(Series.limit("copy", rows, array(sweep, t -> perRow(t, t.copy().median()))))
        .caption(
            "%s, %s, medians; with the whole spread. Few rows stay in a cache, many do not."
                .formatted(results.headline().pass(), results.headline().type()));
  }

  private static double perRow(Timing timing, double nanos) {
    return nanos / 1e3 / timing.subject().shape().rows();
  }

  /** In tensors, which makes small sizes as plain to see as large ones. */
  private Chart memory() {
    List<Timing> sweep =
        results.sweep().stream()
            .filter(t -> results.memory(t.subject(), Variant.RMS_FUSED).isPresent())
            .toList();
    List<String> sizes = sweep.stream().map(t -> Figures.bytes(t.subject().tensorBytes())).toList();
    Chart chart =
        Chart.titled("Memory")
            .over(
                Axis.categories("size of one tensor", sizes),
                Axis.linear("memory (tensors)").from(0));
    for (Variant v : Variant.values()) {
      chart =
          chart.with(
              Series.bars(
                      v.toString(),
                      array(
                          sweep,
                          t ->
                              (double) results.memory(t.subject(), v).orElseThrow().bytes()
                                  / t.subject().tensorBytes()))
                  .color(v.color()));
    }
    return chart.caption(new Wording(results.run()).memory() + " As a multiple of one tensor.");
  }

  /** Where a point can be: below the slope of the memory and the level of the processor. */
  private Chart roofline() {
    Chart chart =
        Chart.titled("Roofline, " + results.headline().shape())
            .over(
                Axis.logarithmic("operations per byte read or written"),
                Axis.logarithmic("billion operations/s"));
    for (Timed timed : headline.variants()) {
      chart =
          chart.with(
              Series.points(
                      timed.variant().toString(),
                      new double[] {headline.intensity(timed)},
                      new double[] {headline.speed(timed) / 1e9})
                  .color(timed.variant().color()));
    }
    if (headline.variants().stream().anyMatch(this::isAboveTheRoof)) {
      return chart.caption(
          "No roof is drawn: some norm was faster than the copy or the arithmetic that would bound it, as"
              + " happens on a busy machine. Fusion moves a norm to the right: fewer bytes for the same"
              + " operations.");
    }
    return chart
        .with(roof())
        .caption(
            ("The slope is the bandwidth of a copy, %s GB/s; the level is %s billion operations a second in a"
                    + " cache, both measured in this run. Fusion moves a norm to the right: fewer bytes for"
                    + " the same operations.")
                .formatted(
                    Figures.billions(headline.copyBandwidth()),
                    Figures.billions(results.computeRoof())));
  }

  /** A roof that a point exceeds bounds nothing: other programs slowed down its measurement. */
  private boolean isAboveTheRoof(Timed timed) {
    double slope = headline.intensity(timed) * headline.copyBandwidth();
    return headline.speed(timed) > Math.min(slope, results.computeRoof());
  }

  private Series roof() {
    double ridge = results.computeRoof() / headline.copyBandwidth();
    double left = 0.05;
    double right = Math.max(4 * ridge, 4);
    double level = results.computeRoof() / 1e9;
    return Series.limit(
        "memory (copy) and compute",
        new double[] {left, ridge, right},
        new double[] {left * headline.copyBandwidth() / 1e9, level, level});
  }

  private static double[] array(List<Timing> sweep, ToDoubleFunction<Timing> value) {
    return sweep.stream().mapToDouble(value).toArray();
  }
}
