package io.github.rmsnorm4j.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Values that belong together in a {@link Chart} and have one colour, one shape and one entry in
 * its legend. A value that is NaN is absent: it leaves a gap. Immutable.
 */
public final class Series {
  enum Style {
    LINE,
    POINTS,
    BARS,
    LIMIT
  }

  /**
   * One value.
   *
   * @param low lower end of its spread, NaN without one
   * @param high upper end of its spread, NaN without one
   */
  record Point(double x, double y, double low, double high) {
    boolean hasSpread() {
      return !Double.isNaN(low) && !Double.isNaN(high);
    }
  }

  final String name;
  final Style style;
  final List<Point> points;

  /** Place of its color in the palette; negative if that is its place in the chart. */
  final int color;

  private Series(String name, Style style, List<Point> points, int color) {
    this.name = Objects.requireNonNull(name, "name");
    this.style = style;
    this.color = color;
    this.points = List.copyOf(points);
  }

  private static Series of(String name, Style style, double[] x, double[] y) {
    requireLength(name, "x values", x.length, y.length);
    List<Point> points = new ArrayList<>(y.length);
    for (int i = 0; i < y.length; i++) {
      points.add(new Point(x[i], y[i], Double.NaN, Double.NaN));
    }
    return new Series(name, style, points, -1);
  }

  /**
   * {@return a series of points joined by a line}
   *
   * @param name its entry in the legend
   * @param x where the values are, in the order in which the line joins them
   * @param y the values, as many
   */
  public static Series line(String name, double[] x, double[] y) {
    return of(name, Style.LINE, x, y);
  }

  /**
   * {@return a series of points that are not joined}
   *
   * @param name its entry in the legend
   * @param x where the values are
   * @param y the values, as many
   */
  public static Series points(String name, double[] x, double[] y) {
    return of(name, Style.POINTS, x, y);
  }

  /**
   * {@return a series of bars, one to a category; several series stand side by side}
   *
   * @param name its entry in the legend
   * @param y the values, one for each of the categories of the chart's x axis, in their order
   */
  public static Series bars(String name, double... y) {
    double[] x = new double[y.length];
    Arrays.setAll(x, i -> i);
    return of(name, Style.BARS, x, y);
  }

  /**
   * {@return a line to compare the other series with, as what a machine can do: thin, dashed,
   * without points}
   *
   * @param name its entry in the legend
   * @param x where its corners are
   * @param y the values there, as many
   */
  public static Series limit(String name, double[] x, double[] y) {
    return of(name, Style.LIMIT, x, y);
  }

  /**
   * {@return the same values in a color of their own, so that a subject looks the same in all
   * charts; a second series of that color is dashed, or paler}
   *
   * @param place of the color in the palette, from 0
   */
  public Series color(int place) {
    return new Series(name, style, points, place);
  }

  /**
   * {@return the same values with how far each spreads: a band around a line of more than 20
   * points, whiskers everywhere else}
   *
   * @param low lower ends, one for each value; NaN where there is none
   * @param high upper ends, as many
   */
  public Series spread(double[] low, double[] high) {
    requireLength(name, "lower ends", low.length, points.size());
    requireLength(name, "upper ends", high.length, points.size());
    List<Point> spread = new ArrayList<>(points.size());
    for (int i = 0; i < points.size(); i++) {
      Point p = points.get(i);
      if (low[i] > high[i]) {
        throw new IllegalArgumentException(
            "series %s: the lower end %s of value %s is above its upper end %s"
                .formatted(Printed.quoted(name), low[i], i, high[i]));
      }
      spread.add(new Point(p.x, p.y, low[i], high[i]));
    }
    return new Series(name, style, spread, color);
  }

  private static void requireLength(String name, String what, int length, int values) {
    if (length != values) {
      throw new IllegalArgumentException(
          "series %s: there are %s %s for %s values, as many are needed"
              .formatted(Printed.quoted(name), length, what, values));
    }
  }
}
