package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.report.Cell;
import io.github.rmsnorm4j.report.Table;
import java.util.ArrayList;
import java.util.List;

/** The tables of the page. */
final class ReportTables {
  private final Results results;

  ReportTables(Results results) {
    this.results = results;
  }

  /** One for each subject: few columns, so that a small screen shows the times. */
  List<Table> figures() {
    List<Row> rows = Row.all(results);
    return results.timings().stream().map(timing -> figures(timing, rows)).toList();
  }

  private static Table figures(Timing timing, List<Row> rows) {
    Subject subject = timing.subject();
    Table table =
        Table.titled("%s (%s a tensor)".formatted(subject, Figures.bytes(subject.tensorBytes())))
            .text("")
            .number("median")
            .number("lowest to highest")
            .number("bytes an element")
            .number("GB/s")
            .number("of copy")
            .number("operations a byte")
            .number("memory")
            .number("parameters")
            .number("error");
    for (Row row : rows) {
      if (row.isOf(subject)) {
        table =
            table.row(
                row.variant(),
                Figures.time(row.medianNanos()),
                Figures.times(row.lowestNanos(), row.highestNanos()),
                String.valueOf(row.bytesPerElement()),
                Figures.billions(row.bytesPerSecond()),
                Figures.percent(row.shareOfCopy()),
                Figures.ratio(row.operationsPerByte()),
                row.memoryBytes() == null ? "" : Figures.bytes(row.memoryBytes()),
                Figures.count(row.parameters()),
                Figures.error(row.error()));
      }
    }
    return table.row(
        "copy",
        Figures.time(timing.copy().median()),
        Figures.times(timing.copy().lowest(), timing.copy().highest()),
        String.valueOf(2 * subject.type().bytes()),
        Figures.billions(timing.copyBandwidth()),
        "",
        "",
        "",
        "",
        "");
  }

  /** A row's first elements, and what each form makes of them. */
  List<Table> halfRows() {
    return results.halfRows().stream().map(ReportTables::halfRow).toList();
  }

  private static Table halfRow(HalfRow row) {
    Table table =
        Table.titled(
                "%s of a float16 row of %s elements, the first four"
                    .formatted(row.norm(), Figures.count(row.width())))
            .text("");
    for (double input : row.input()) {
      table = table.number("%.0f".formatted(input));
    }
    return table
        .number("wrong")
        .row(cells("exact", row.exact(), Cell.of("")))
        .row(cells("naive", row.naive(), wrong(row.naiveWrong())))
        .row(cells("fused", row.fused(), wrong(row.fusedWrong())));
  }

  private static Cell wrong(int wrong) {
    Cell cell = Cell.of(Figures.count(wrong));
    return wrong == 0 ? cell.good() : cell.bad();
  }

  private static List<Cell> cells(String name, List<Double> values, Cell last) {
    List<Cell> cells = new ArrayList<>();
    cells.add(Cell.of(name));
    values.forEach(v -> cells.add(Cell.of(v)));
    cells.add(last);
    return cells;
  }
}
