package io.github.rmsnorm4j.models.check;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where elements differ, in words. Rows are added in their order. */
final class Places {
  /** So many ranges, or elements, are written out. */
  private static final int WRITTEN = 6;

  /** So many ranges are listed. */
  private static final int LISTED = 1000;

  private final BitSet columns = new BitSet();
  private final List<long[]> rows = new ArrayList<>();
  private final List<String> first = new ArrayList<>();
  private final List<long[]> wholeRows = new ArrayList<>();
  private long wholeCount;
  private long elements;
  private long rowCount;

  void add(long row, int column) {
    rowCount += extend(rows, row);
    columns.set(column);
    elements++;
    if (first.size() < WRITTEN) {
      first.add("row %s column %s".formatted(row, column));
    }
  }

  /** Adds a row of which no element differs. */
  void addWhole(long row) {
    wholeCount += extend(wholeRows, row);
  }

  /** Adds a row to ranges; how many rows they have more. */
  private static int extend(List<long[]> ranges, long row) {
    long[] last = ranges.isEmpty() ? null : ranges.getLast();
    if (last == null || row > last[1] + 1) {
      ranges.add(new long[] {row, row});
      return 1;
    }
    int added = row > last[1] ? 1 : 0;
    last[1] = row;
    return added;
  }

  /** The rows of which no element differs, for example "rows 0 to 7"; empty if there are none. */
  String wholeRows() {
    return wholeCount == 0 ? "" : text("row", wholeRows, wholeCount);
  }

  /** The columns of which no element differs, if they have most of the equal ones; or empty. */
  String wholeColumns(int width, Finding of) {
    BitSet whole = new BitSet();
    whole.set(0, width);
    whole.andNot(columns);
    boolean most = 2 * whole.cardinality() * (of.elements() / width) > of.equal();
    return most ? text("column", ranges(whole), whole.cardinality()) : "";
  }

  /** The first and the last of each range of rows. */
  List<List<Long>> rows() {
    return listed(rows);
  }

  /** The same of columns. */
  List<List<Long>> columns() {
    return listed(ranges(columns));
  }

  private static List<List<Long>> listed(List<long[]> ranges) {
    return ranges.stream().limit(LISTED).map(range -> List.of(range[0], range[1])).toList();
  }

  private static List<long[]> ranges(BitSet columns) {
    List<long[]> ranges = new ArrayList<>();
    for (int from = columns.nextSetBit(0); from >= 0; from = columns.nextSetBit(from)) {
      ranges.add(new long[] {from, columns.nextClearBit(from) - 1});
      from = columns.nextClearBit(from);
    }
    return ranges;
  }

  /** All of them, for example "in column 0 of rows 2, 4, 6". */
  @Override
  public String toString() {
    List<long[]> ranges = ranges(columns);
    boolean few = elements <= first.size() && rowCount > 1 && columns.cardinality() > 1;
    String where =
        few
            ? "at " + String.join(", ", first)
            : "in %s of %s"
                .formatted(
                    text("column", ranges, columns.cardinality()), text("row", rows, rowCount));
    boolean block = elements == rowCount * columns.cardinality();
    return where + (few || block ? "" : ", the first at " + first.getFirst());
  }

  private static String text(String what, List<long[]> ranges, long count) {
    if (count == 1) {
      return what + " " + ranges.getFirst()[0];
    }
    if (ranges.size() <= WRITTEN) {
      return ranges.stream()
          .map(range -> range[0] == range[1] ? "" + range[0] : range[0] + " to " + range[1])
          .collect(Collectors.joining(", ", what + "s ", ""));
    }
    return String.format(
        Locale.ROOT,
        "%,d %ss from %s to %s",
        count,
        what,
        ranges.getFirst()[0],
        ranges.getLast()[1]);
  }
}
