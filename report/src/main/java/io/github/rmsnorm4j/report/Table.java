package io.github.rmsnorm4j.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Rows under a header. Immutable.
 *
 * <pre>{@code
 * Table.titled("At 128 x 4096").text("norm").number("time (ms)").row("RMSNorm", "1.25")
 * }</pre>
 */
public final class Table {
  record Column(String title, boolean number) {}

  final String title;
  final List<Column> columns;
  final List<List<Cell>> rows;

  Table(String title, List<Column> columns, List<List<Cell>> rows) {
    this.title = Objects.requireNonNull(title, "title");
    this.columns = columns;
    this.rows = rows;
  }

  /**
   * {@return a table without columns}
   *
   * @param title what it holds, above it; may be empty
   */
  public static Table titled(String title) {
    return new Table(title, List.of(), List.of());
  }

  /**
   * {@return the same table with a column of words as well, set to the left} Columns come before
   * rows.
   *
   * @param title its header
   */
  public Table text(String title) {
    return column(new Column(Objects.requireNonNull(title, "title"), false));
  }

  /**
   * {@return the same table with a column of numbers as well, set to the right} Columns come before
   * rows.
   *
   * @param title its header, with the unit
   */
  public Table number(String title) {
    return column(new Column(Objects.requireNonNull(title, "title"), true));
  }

  private Table column(Column column) {
    if (!rows.isEmpty()) {
      throw new IllegalStateException(
          "table %s: the column %s comes after the first row"
              .formatted(Printed.quoted(title), Printed.quoted(column.title)));
    }
    return new Table(title, appended(columns, column), rows);
  }

  /**
   * {@return the same table with this row as well}
   *
   * @param cells what stands in it, as many as there are columns
   */
  public Table row(String... cells) {
    return row(Arrays.stream(cells).map(Cell::of).toList());
  }

  /**
   * {@return the same table with this row as well}
   *
   * @param cells what stands in it, as many as there are columns
   */
  public Table row(List<Cell> cells) {
    if (cells.size() != columns.size()) {
      throw new IllegalArgumentException(
          "table %s: row %s has %s cells for %s columns, as many are needed"
              .formatted(Printed.quoted(title), rows.size(), cells.size(), columns.size()));
    }
    return new Table(title, columns, appended(rows, List.copyOf(cells)));
  }

  private static <T> List<T> appended(List<T> list, T last) {
    List<T> longer = new ArrayList<>(list);
    longer.add(last);
    return List.copyOf(longer);
  }
}
