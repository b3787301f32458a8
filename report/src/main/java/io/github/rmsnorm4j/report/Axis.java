package io.github.rmsnorm4j.report;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * One axis of a {@link Chart}: what is measured along it, in which unit, and how it is divided.
 * Immutable.
 */
public final class Axis {
  enum Scale {
    LINEAR,
    LOGARITHMIC,
    CATEGORIES
  }

  final Scale scale;
  final String title;
  final List<String> categories;
  final List<Double> ticks;
  final double from;
  final double to;

  private Axis(
      Scale scale,
      String title,
      List<String> categories,
      List<Double> ticks,
      double from,
      double to) {
    this.scale = scale;
    this.title = Objects.requireNonNull(title, "title");
    this.categories = categories;
    this.ticks = ticks;
    this.from = from;
    this.to = to;
  }

  /**
   * {@return an axis on which equal distances are equal differences, as long as the data need}
   *
   * @param title what is measured, with its unit: {@code "time (ms)"}
   */
  public static Axis linear(String title) {
    return new Axis(Scale.LINEAR, title, List.of(), List.of(), Double.NaN, Double.NaN);
  }

  /**
   * {@return an axis on which equal distances are equal ratios, as long as the data need} What is
   * zero or negative is not drawn on it; the page says so, and the chart's numbers hold it.
   *
   * @param title what is measured, with its unit: {@code "width (elements)"}
   */
  public static Axis logarithmic(String title) {
    return new Axis(Scale.LOGARITHMIC, title, List.of(), List.of(), Double.NaN, Double.NaN);
  }

  /**
   * {@return an axis of things that are counted up rather than measured} Only for x.
   *
   * @param title what the categories are: {@code "shape"}
   * @param categories their names, from left to right; the first is at x = 0, the next at 1
   */
  public static Axis categories(String title, List<String> categories) {
    if (categories.isEmpty()) {
      throw new IllegalArgumentException(
          "axis " + Printed.quoted(title) + ": there are no categories, at least one is needed");
    }
    return new Axis(
        Scale.CATEGORIES, title, List.copyOf(categories), List.of(), Double.NaN, Double.NaN);
  }

  /**
   * {@return the same axis with marks at these values and nowhere else, as at powers of two}
   *
   * @param values where, ascending
   */
  public Axis ticks(double... values) {
    requireNumbers("ticks");
    for (double value : values) {
      requireOnAxis("ticks", value);
    }
    List<Double> boxed = Arrays.stream(values).boxed().toList();
    return new Axis(scale, title, categories, boxed, from, to);
  }

  /**
   * {@return the same axis, beginning here at the latest; it begins earlier where the data do}
   *
   * @param value the value at the axis's beginning
   */
  public Axis from(double value) {
    requireNumbers("from");
    requireOnAxis("from", value);
    return new Axis(scale, title, categories, ticks, value, to);
  }

  /**
   * {@return the same axis, ending here at the earliest; it ends later where the data do}
   *
   * @param value the value at the axis's end
   */
  public Axis to(double value) {
    requireNumbers("to");
    requireOnAxis("to", value);
    return new Axis(scale, title, categories, ticks, from, value);
  }

  private void requireNumbers(String setting) {
    if (scale == Scale.CATEGORIES) {
      throw new IllegalArgumentException(
          "axis " + Printed.quoted(title) + ": " + setting + " is for numbers, not categories");
    }
  }

  private void requireOnAxis(String setting, double value) {
    if (!shows(value)) {
      throw new IllegalArgumentException(
          "axis %s: %s is %s, allowed are %s numbers"
              .formatted(
                  Printed.quoted(title),
                  setting,
                  value,
                  scale == Scale.LOGARITHMIC ? "positive" : "finite"));
    }
  }

  /** Whether a value has a place on this axis. */
  boolean shows(double value) {
    return switch (scale) {
      case LINEAR -> Double.isFinite(value);
      case LOGARITHMIC -> Double.isFinite(value) && value > 0;
      case CATEGORIES -> value == Math.rint(value) && value >= 0 && value < categories.size();
    };
  }

  /** A value on this axis as the page's tables show it. */
  String text(double value) {
    return scale == Scale.CATEGORIES && shows(value)
        ? categories.get((int) value)
        : Printed.number(value);
  }
}
