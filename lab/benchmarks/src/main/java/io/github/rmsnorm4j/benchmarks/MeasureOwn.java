package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures this library alone, on one thread, in the JVM that it is started in. Another commit of
 * the library may be on the class path: {@code rmsnorm bench --against} starts it with both.
 */
public final class MeasureOwn {
  /** Bytes of input rows at all places of one subject. */
  private static final long MEMORY = 1 << 25;

  private MeasureOwn() {}

  /**
   * {@return what is measured}
   *
   * @param quick whether it is few
   * @param only a text that each title must have
   */
  public static List<Contest> contests(boolean quick, String only) {
    return Contests.all().stream()
        .filter(contest -> !quick || Contests.isQuick(contest))
        // The check of a gradient is one of float32.
        .filter(contest -> !contest.backward() || contest.type() == ElementType.FLOAT32)
        .filter(contest -> contest.toString().contains(only))
        .toList();
  }

  /**
   * Writes a line for each contest to a file: its title, or the nanoseconds of a call, in processor
   * time of the thread, and the title.
   *
   * @param args {@code titles} or {@code times}, the file, whether it is quick, and a text that
   *     each title must have
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] args) throws IOException {
    boolean timed = args[0].equals("times");
    boolean quick = Boolean.parseBoolean(args[2]);
    List<String> lines = new ArrayList<>();
    for (Contest contest : contests(quick, args[3])) {
      String time = timed ? nanos(contest, quick ? Effort.QUICK : Effort.FULL) + " " : "";
      lines.add(time + contest);
    }
    Files.write(Path.of(args[1]), lines);
  }

  private static double nanos(Contest contest, Effort effort) {
    Subject subject =
        new Subject(
            contest.kernel(),
            contest.type(),
            Memory.NATIVE,
            contest.rows(),
            contest.width(),
            false,
            contest.backward() ? Job.BACKWARD : Job.NORM);
    try (Arena arena = Arena.ofConfined()) {
      // Every round has other memory: where it lies, a call may take a quarter less.
      List<Runnable> places = new ArrayList<>();
      for (int place = 0; place < places(subject, effort); place++) {
        Task task = subject.task(Backend.best(), arena);
        task.check();
        places.add(task::run);
      }
      return new Interleaved(effort, ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime)
          .measure(List.of(places))
          .getFirst()
          .median();
    }
  }

  private static int places(Subject subject, Effort effort) {
    long bytes = (long) subject.elements() * subject.type().bytes();
    return Math.clamp(MEMORY / bytes, 1, effort.rounds());
  }
}
