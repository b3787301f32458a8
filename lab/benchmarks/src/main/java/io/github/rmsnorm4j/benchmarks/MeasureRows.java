package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that measures rows of the table, one after the other. */
final class MeasureRows {
  /** Bytes of input rows at all places of one subject. */
  private static final long MEMORY = 1 << 25;

  private MeasureRows() {}

  /**
   * Has rows measured by a JVM of their own.
   *
   * @param bits the table's width of vectors
   * @param polluted whether everything goes through that JVM first
   */
  static List<Results.Figure> inFreshJvm(List<Row> rows, int bits, boolean polluted, boolean quick)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("" + bits, "" + polluted, "" + quick));
    rows.forEach(row -> arguments.add(row.title()));
    return List.of(Results.fromFreshJvm(MeasureRows.class, Results.Figure[].class, arguments));
  }

  public static void main(String[] args) throws IOException {
    int bits = Integer.parseInt(args[1]);
    boolean polluted = Boolean.parseBoolean(args[2]);
    boolean quick = Boolean.parseBoolean(args[3]);
    Effort effort = quick ? Effort.QUICK : Effort.FULL;
    List<String> titles = List.of(args).subList(4, args.length);
    List<Row> rows = Row.all(bits).stream().filter(row -> titles.contains(row.title())).toList();

    if (polluted) {
      for (int b : rows.stream().mapToInt(row -> row.bits(bits)).distinct().toArray()) {
        Pollution.run(SpeedTable.withVectorsOf(b), quick);
      }
    }
    List<Results.Figure> figures = new ArrayList<>();
    for (Row row : rows) {
      Times times = measure(row, SpeedTable.withVectorsOf(row.bits(bits)), effort);
      figures.add(new Results.Figure(row.title(), polluted, times));
    }
    Results.write(Path.of(args[0]), figures);
  }

  /** The row's norm and its baseline in turn, in processor time of this thread. */
  static Times measure(Row row, Backend backend, Effort effort) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (Arena arena = Arena.ofConfined()) {
      List<Runnable> subjects = new ArrayList<>();
      List<Runnable> baselines = new ArrayList<>();
      for (int place = 0; place < places(row.subject(), effort); place++) {
        Task subject = ready(row.subject(), backend, arena);
        subjects.add(subject::run);
        baselines.add(
            row.baseline() == null ? subject::copy : ready(row.baseline(), backend, arena)::run);
      }
      return Times.measure(
          subjects, baselines, new Interleaved(effort, threads::getCurrentThreadCpuTime));
    }
  }

  /**
   * A copy's time depends on the pages of memory that the rows get, because some pages share a set
   * of a cache; a norm's time depends on them less. So every round has other memory, up to a limit.
   */
  static int places(Subject subject, Effort effort) {
    long bytes = (long) subject.elements() * subject.type().bytes();
    return Math.clamp(MEMORY / bytes, 1, effort.rounds());
  }

  static Task ready(Subject subject, Backend backend, Arena arena) {
    Task task = subject.task(backend, arena);
    task.check();
    return task;
  }
}
