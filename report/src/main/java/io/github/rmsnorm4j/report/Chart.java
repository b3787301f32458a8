package io.github.rmsnorm4j.report;

import io.github.rmsnorm4j.report.Axis.Scale;
import io.github.rmsnorm4j.report.Series.Point;
import io.github.rmsnorm4j.report.Series.Style;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Series of values over two axes. What kind of chart it is follows from these: bars over {@link
 * Axis#categories}, lines over numbers, points with a {@link Series#limit} for a roofline.
 * Immutable.
 *
 * <pre>{@code
 * Chart.titled("Time by width")
 *     .over(Axis.logarithmic("width (elements)"), Axis.linear("time (ms)").from(0))
 *     .with(Series.line("RMSNorm", widths, medians).spread(fastest, slowest))
 *     .caption("Median of 9 runs, with their whole spread.")
 * }</pre>
 */
public final class Chart {
  final String title;
  final Axis x;
  final Axis y;
  final List<Series> series;
  final String caption;

  private Chart(String title, Axis x, Axis y, List<Series> series, String caption) {
    this.title = Objects.requireNonNull(title, "title");
    this.x = x;
    this.y = y;
    this.series = List.copyOf(series);
    this.caption = Objects.requireNonNull(caption, "caption");
  }

  /**
   * {@return a chart without values, over linear axes without titles}
   *
   * @param title what it shows, above it
   */
  public static Chart titled(String title) {
    return new Chart(title, Axis.linear(""), Axis.linear(""), List.of(), "");
  }

  /**
   * {@return the same chart over these axes} They are set before any series.
   *
   * @param x from left to right
   * @param y upwards; not categories
   */
  public Chart over(Axis x, Axis y) {
    if (y.scale == Scale.CATEGORIES) {
      throw new IllegalArgumentException(
          "chart " + Printed.quoted(title) + ": categories are for the x axis only");
    }
    if (!series.isEmpty()) {
      throw new IllegalStateException(
          "chart " + Printed.quoted(title) + ": its axes are set after its series");
    }
    return new Chart(title, x, y, series, caption);
  }

  /**
   * {@return the same chart with this series as well}
   *
   * @param more the values; over categories their x are 0, 1, 2 and so on
   */
  public Chart with(Series more) {
    boolean categories = x.scale == Scale.CATEGORIES;
    if (more.style == Style.BARS && !categories) {
      throw refused(more, "bars stand over categories, and the x axis has numbers");
    }
    if (more.style == Style.BARS && more.points.size() != x.categories.size()) {
      throw refused(
          more,
          "there are %s bars for %s categories, as many are needed"
              .formatted(more.points.size(), x.categories.size()));
    }
    for (Point p : more.points) {
      if (categories && !x.shows(p.x())) {
        throw refused(
            more,
            "x is %s, allowed are the categories 0 to %s"
                .formatted(p.x(), x.categories.size() - 1));
      }
    }
    List<Series> all = new ArrayList<>(series);
    all.add(more);
    return new Chart(title, x, y, all, caption);
  }

  private IllegalArgumentException refused(Series of, String why) {
    return new IllegalArgumentException(
        "chart %s, series %s: %s".formatted(Printed.quoted(title), Printed.quoted(of.name), why));
  }

  /**
   * {@return the same chart with a sentence that says what is to be seen}
   *
   * @param sentence below the chart
   */
  public Chart caption(String sentence) {
    return new Chart(title, x, y, series, sentence);
  }

  /** Whether a point has a place on both axes. */
  boolean draws(Point p) {
    return x.shows(p.x()) && y.shows(p.y());
  }

  /** How many values are there and have no place on the axes. */
  long notDrawn() {
    return series.stream()
        .flatMap(s -> s.points.stream())
        .filter(p -> !draws(p) && !Double.isNaN(p.x()) && !Double.isNaN(p.y()))
        .count();
  }
}
