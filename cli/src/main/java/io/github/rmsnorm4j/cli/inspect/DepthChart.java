package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.report.Axis;
import io.github.rmsnorm4j.report.Chart;
import io.github.rmsnorm4j.report.Series;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** The gains of the norms that are in every layer, by layer. */
final class DepthChart {
  /** More ranges than this hide each other. */
  private static final int MOST_RANGES = 3;

  /** As many marks as have room on a telephone. */
  private static final int MOST_TICKS = 12;

  /** A share of the axis, so that the ranges of the first and last layer are not on its ends. */
  private static final double MARGIN = 0.03;

  private DepthChart() {}

  /** The chart; empty if no norm is in more than one layer. */
  static Optional<Chart> of(List<NormGroup> groups) {
    List<NormGroup> shown =
        groups.stream()
            .filter(group -> group.norms().size() > 1 && group.first().gain().isPresent())
            .toList();
    if (shown.isEmpty()) {
      return Optional.empty();
    }
    boolean ranges = shown.size() <= MOST_RANGES;
    String first = shown.getFirst().name();
    int shared = NormGroup.shared(first, shown.stream().map(NormGroup::name).toList());
    Chart chart = Chart.titled(title(shown)).over(layers(shown), Axis.linear(gain(shown)));
    for (NormGroup group : shown) {
      Series line =
          Series.line(
              Printable.escaped(group.name().substring(shared)),
              group.norms().stream().mapToDouble(norm -> norm.site().layer()).toArray(),
              of(group, GainStatistics::mean));
      chart =
          chart.with(
              ranges
                  ? line.spread(
                      of(group, GainStatistics::least), of(group, GainStatistics::greatest))
                  : line);
    }
    return Optional.of(
        chart.caption(
            ranges
                ? "Means; the range around a mean is from the least gain to the greatest."
                : "Means. The tables below have the least and the greatest gain."));
  }

  /** A single line has no legend. */
  private static String title(List<NormGroup> shown) {
    return "Mean gain by layer"
        + (shown.size() == 1 ? ": " + Printable.escaped(shown.getFirst().name()) : "");
  }

  private static String gain(List<NormGroup> shown) {
    return shown.stream().allMatch(group -> group.first().spec().gainOffset() == 1)
        ? "gain g = 1 + stored number"
        : "gain g";
  }

  /** An axis with marks at whole numbers: 0, 1, 2 or 0, 5, 10. */
  private static Axis layers(List<NormGroup> shown) {
    int last =
        shown.stream()
            .flatMap(group -> group.norms().stream())
            .mapToInt(norm -> norm.site().layer())
            .max()
            .orElseThrow();
    int step = 1;
    for (int i = 0; last / step >= MOST_TICKS; i++) {
      step = (int) Math.pow(10, (i + 1) / 3) * new int[] {1, 2, 5}[(i + 1) % 3];
    }
    int apart = step;
    double[] marks = IntStream.rangeClosed(0, last / step).mapToDouble(i -> i * apart).toArray();
    return Axis.linear("layer").from(-MARGIN * last).to(last + MARGIN * last).ticks(marks);
  }

  private static double[] of(NormGroup group, ToDoubleFunction<GainStatistics> figure) {
    return group.norms().stream()
        .mapToDouble(norm -> figure.applyAsDouble(norm.gain().orElseThrow()))
        .toArray();
  }
}
