package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What {@code rmsnorm bench --decode} prints: times of the plain loop, and those of this library in
 * multiples of it.
 */
final class DecodeTable {
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
  enum Column {
    BUILDING("building", Times::building),
    FIRST("token 1", times -> times.tokens[0]),
    EARLY("2-10", times -> times.mean(2, 10)),
    LATER("11-100", times -> times.mean(11, 100)),
    SOON("2-100", times -> times.mean(2, 100)),
    LAST("101-", times -> times.median(101)),
    ALL("all", Times::all),
    PROCESSOR("processor", Times::processor),
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

  /** The median of some JVMs; a multiple of the loop's in the same round where it is no time. */
  static double figure(Column column, List<Times> own, List<Times> loop) {
    List<Double> figures = new ArrayList<>();
    for (int round = 0; round < own.size(); round++) {
      double time = column.of.applyAsDouble(own.get(round));
      figures.add(column.isTime() ? time : time / column.of.applyAsDouble(loop.get(round)));
    }
    return Samples.median(figures);
  }

  /** The lines of one kind of call, the loop's first. */
  static List<String> lines(String title, List<Times> loop, Map<String, List<Times>> own) {
    List<Column> columns = List.of(Column.values());
    List<String> lines = new ArrayList<>();
    lines.add(line(title, columns.stream().map(Column::title).toList()));
    List<String> times =
        columns.stream()
            .map(
                column ->
                    number(Samples.median(loop.stream().map(column.of::applyAsDouble).toList())))
            .toList();
    lines.add(line("  plain loop, ms", times));
    own.forEach(
        (start, of) ->
            lines.add(
                line(
                    "  " + start,
                    columns.stream().map(column -> number(figure(column, of, loop))).toList())));
    return lines;
  }

  private static String line(String title, List<String> cells) {
    List<String> all = new ArrayList<>(List.of(title));
    all.addAll(cells);
    return String.format(Locale.ROOT, LINE, all.toArray()).stripTrailing();
  }

  static String number(double value) {
    String digits =
        value < 0.0995 ? "%.3f" : value < 9.95 ? "%.2f" : value < 99.5 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, digits, value);
  }
}
