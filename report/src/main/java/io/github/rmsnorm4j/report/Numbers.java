package io.github.rmsnorm4j.report;

import io.github.rmsnorm4j.report.Series.Point;
import io.github.rmsnorm4j.report.Table.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The numbers behind a chart, as a table. */
final class Numbers {
  private Numbers() {}

  /** One row for each x, one column for each series; where that does not fit, one row a point. */
  static Table of(Chart chart) {
    return chart.series.stream().anyMatch(Numbers::comesBack) ? byPoint(chart) : byX(chart);
  }

  private static boolean comesBack(Series series) {
    Set<Double> seen = new HashSet<>();
    return !series.points.stream().allMatch(p -> seen.add(p.x()));
  }

  private static Table byX(Chart chart) {
    int width = chart.series.size() + 1;
    List<Column> columns = new ArrayList<>(width);
    columns.add(new Column(chart.x.title, chart.x.categories.isEmpty()));
    SortedMap<Double, String[]> rows = new TreeMap<>();
    for (int s = 0; s < chart.series.size(); s++) {
      Series series = chart.series.get(s);
      columns.add(new Column(series.name, true));
      for (Point p : series.points) {
        rows.computeIfAbsent(p.x(), x -> emptyRow(chart.x.text(x), width))[s + 1] = value(p);
      }
    }
    return table(chart, columns, rows.values().stream().map(Arrays::asList).toList());
  }

  private static String[] emptyRow(String x, int width) {
    String[] row = new String[width];
    Arrays.fill(row, "");
    row[0] = x;
    return row;
  }

  private static Table byPoint(Chart chart) {
    List<Column> columns =
        List.of(
            new Column("series", false),
            new Column(chart.x.title, chart.x.categories.isEmpty()),
            new Column(chart.y.title, true));
    List<List<String>> rows = new ArrayList<>();
    for (Series series : chart.series) {
      for (Point p : series.points) {
        rows.add(List.of(series.name, chart.x.text(p.x()), value(p)));
      }
    }
    return table(chart, columns, rows);
  }

  private static Table table(Chart chart, List<Column> columns, List<List<String>> rows) {
    boolean named = !chart.y.title.isEmpty() && !columns.get(0).title().equals("series");
    return new Table(
        named ? chart.y.title : "",
        columns,
        rows.stream().map(row -> row.stream().map(Cell::of).toList()).toList());
  }

  /** A value and its spread. */
  static String value(Point p) {
    String value = Printed.number(p.y());
    return p.hasSpread()
        ? "%s (%s to %s)".formatted(value, Printed.number(p.low()), Printed.number(p.high()))
        : value;
  }
}
