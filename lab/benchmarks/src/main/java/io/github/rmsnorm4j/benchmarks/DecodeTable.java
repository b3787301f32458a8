package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.benchmarks.DecodeResults.Call;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Start;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The table of {@code rmsnorm bench --decode}: times of the plain loop, and those of this library
 * in multiples of it.
 */
public final class DecodeTable {
  private static final String LINE = "%-24s" + "%10s".repeat(9);

  private DecodeTable() {}

  /**
   * The times of one JVM, in milliseconds.
   *
   * @param building of all norms
   * @param processor of the whole process
   * @param tokens of the norms of each token
   * @param longest call after the first token
   */
  record Times(double building, double processor, double[] tokens, double longest) {
    /** From the lines that the program writes. */
    static Times of(List<String> lines, int norms) {
      double[] ms = lines.stream().mapToDouble(line -> Long.parseLong(line) / 1e6).toArray();
      double[] calls = Arrays.copyOfRange(ms, 2, ms.length);
      double[] tokens =
          IntStream.range(0, calls.length / norms)
              .mapToDouble(token -> Arrays.stream(calls, token * norms, (token + 1) * norms).sum())
              .toArray();
      double longest = Arrays.stream(calls).skip(norms).max().orElse(0);
      return new Times(ms[0], ms[1], tokens, longest);
    }

    Map<Column, Double> columns() {
      Map<Column, Double> columns = new EnumMap<>(Column.class);
      for (Column column : Column.values()) {
        columns.put(column, column.of.applyAsDouble(this));
      }
      return columns;
    }

    /** Of an average token, from one on, counted from 1. */
    private double mean(int from, int to) {
      return Arrays.stream(tokens, from - 1, to).average().orElseThrow();
    }

    private double median(int from) {
      return Samples.median(Arrays.stream(tokens).skip(from - 1L).boxed().toList());
    }

    private double all() {
      return building + Arrays.stream(tokens).sum();
    }
  }

  /** What is shown of the times of a JVM. */
  public enum Column {
    /** Of all norms. */
    BUILDING("building", Times::building),
    /** The first token. */
    FIRST("token 1", times -> times.tokens[0]),
    /** The mean of the next nine. */
    EARLY("2-10", times -> times.mean(2, 10)),
    /** The mean of those to the hundredth. */
    LATER("11-100", times -> times.mean(11, 100)),
    /** The mean of the first hundred without the first. */
    SOON("2-100", times -> times.mean(2, 100)),
    /** The median of all others. */
    LAST("101-", times -> times.median(101)),
    /** Building and all tokens. */
    ALL("all", Times::all),
    /** Processor time of the process. */
    PROCESSOR("processor", Times::processor),
    /** The longest call after the first token. */
    LONGEST("longest", Times::longest);

    private final String title;
    private final ToDoubleFunction<Times> of;

    Column(String title, ToDoubleFunction<Times> of) {
      this.title = title;
      this.of = of;
    }

    /** Whether it is a time for this library, too, and not a multiple of the loop's. */
    boolean isTime() {
      return this == BUILDING || this == LONGEST;
    }

    String title() {
      return title;
    }
  }

  /**
   * {@return the median of some JVMs; a multiple of the loop's in the same round where it is no
   * time}
   *
   * @param column what is shown
   * @param own JVMs of this library
   * @param loop JVMs of the loop, one for each of them
   */
  public static double figure(Column column, Start own, Start loop) {
    List<Double> figures = new ArrayList<>();
    for (int round = 0; round < own.rounds().size(); round++) {
      double time = own.rounds().get(round).get(column);
      figures.add(column.isTime() ? time : time / loop.rounds().get(round).get(column));
    }
    return Samples.median(figures);
  }

  /** The lines of one kind of call, the loop's first. */
  static List<String> lines(Call call) {
    return rows(call).stream()
        .map(row -> String.format(Locale.ROOT, LINE, row.toArray()).stripTrailing())
        .toList();
  }

  /**
   * {@return the table as Markdown}
   *
   * @param results of a run
   */
  public static String markdown(DecodeResults results) {
    StringBuilder table = new StringBuilder("### The first tokens\n\n");
    table
        .append(SourceCommit.measuredOn(results.date(), results.commit()))
        .append(
            " Milliseconds of the plain loop; this library in multiples of them, building and"
                + " longest in ms. Medians of fresh JVMs.\n");
    for (Call call : results.calls()) {
      List<List<String>> rows = rows(call);
      table.append('\n').append(row(rows.getFirst()));
      table.append("| --- |").append(" ---: |".repeat(Column.values().length)).append('\n');
      rows.stream().skip(1).map(DecodeTable::row).forEach(table::append);
    }
    return table.append('\n').toString();
  }

  private static String row(List<String> cells) {
    return "| " + String.join(" | ", cells.stream().map(String::strip).toList()) + " |\n";
  }

  private static List<List<String>> rows(Call call) {
    Start loop = call.starts().getFirst();
    List<List<String>> rows = new ArrayList<>();
    rows.add(row(call.title(), Column::title));
    rows.add(
        row(
            "  " + loop.title() + ", ms",
            column ->
                number(Samples.median(loop.rounds().stream().map(r -> r.get(column)).toList()))));
    for (Start own : call.starts().subList(1, call.starts().size())) {
      rows.add(row("  " + own.title(), column -> number(figure(column, own, loop))));
    }
    return rows;
  }

  private static List<String> row(String title, Function<Column, String> cell) {
    List<String> cells = new ArrayList<>(List.of(title));
    Arrays.stream(Column.values()).map(cell).forEach(cells::add);
    return cells;
  }

  static String number(double value) {
    String digits =
        value < 0.0995 ? "%.3f" : value < 9.95 ? "%.2f" : value < 99.5 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, digits, value);
  }
}
