package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.report.Cell;
import io.github.rmsnorm4j.report.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The tables of the page. */
record ReportTables(Results results) {
  /** One for each subject: few columns, so that a small screen shows the times. */
  List<Table> figures() {
    List<Row> rows = Row.all(results);
    return results.timings().stream()
        .map(
            timing -> {
              Subject subject = timing.subject();
              return figures(timing, rows.stream().filter(row -> row.isOf(subject)).toList());
            })
        .toList();
  }

  /** The column of memory is there only where memory was measured: small tensors have none. */
  private static Table figures(Timing timing, List<Row> rows) {
    Subject subject = timing.subject();
    boolean memory = rows.stream().anyMatch(row -> row.memoryBytes() != null);
    Table table =
        Table.titled("%s (%s a tensor)".formatted(subject, Figures.bytes(subject.tensorBytes())))
            .text("")
            .number("median")
            .number("lowest to highest")
            .number("bytes an element")
            .number("GB/s")
            .number("times a copy")
            .number("operations a byte");
    table = (memory ? table.number("memory") : table).number("parameters").number("error");
    for (Row row : rows) {
      List<String> cells =
          new ArrayList<>(
              List.of(
                  row.variant(),
                  Figures.time(row.medianNanos()),
                  Figures.times(row.lowestNanos(), row.highestNanos()),
                  String.valueOf(row.bytesPerElement()),
                  Figures.billions(row.bytesPerSecond()),
                  Figures.ratio(row.timesCopy()),
                  Figures.ratio(row.operationsPerByte())));
      if (memory) {
        cells.add(row.memoryBytes() == null ? "not measured" : Figures.bytes(row.memoryBytes()));
      }
      cells.addAll(List.of(Figures.count(row.parameters()), Figures.error(row.error())));
      table = table.row(cells.toArray(String[]::new));
    }
    List<String> copy =
        new ArrayList<>(
            List.of(
                "copy",
                Figures.time(timing.copy().median()),
                Figures.times(timing.copy().lowest(), timing.copy().highest()),
                String.valueOf(2 * subject.type().bytes()),
                Figures.billions(timing.copyBandwidth()),
                Figures.ratio(1)));
    copy.addAll(Collections.nCopies(memory ? 4 : 3, ""));
    return table.row(copy.toArray(String[]::new));
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
      table = table.number("" + Math.round(input));
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
