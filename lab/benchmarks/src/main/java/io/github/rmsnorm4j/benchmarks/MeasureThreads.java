package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that measures from which size on a second thread saves time. It calls the scheduler
 * behind the API, because the API would not start a second thread for little work.
 */
final class MeasureThreads {
  private static final int WIDTH = 4096;
  private static final int SMALLEST_ROWS = 2;
  private static final int LARGEST_ROWS = 2048;

  private MeasureThreads() {}

  static List<Results.ThreadTimes> inFreshJvm(int bits, boolean quick) throws IOException {
    List<String> arguments = List.of("" + bits, "" + quick);
    return List.of(
        Results.fromFreshJvm(MeasureThreads.class, Results.ThreadTimes[].class, arguments));
  }

  public static void main(String[] args) throws IOException {
    Backend backend = SpeedTable.withVectorsOf(Integer.parseInt(args[1]));
    Effort effort = Boolean.parseBoolean(args[2]) ? Effort.QUICK : Effort.FULL;
    List<Results.ThreadTimes> all = new ArrayList<>();
    for (int rows = SMALLEST_ROWS; rows <= LARGEST_ROWS; rows *= 2) {
      all.add(measure(Subject.of(Kernel.RMS_NORM, rows, WIDTH), backend, effort));
    }
    Results.write(Path.of(args[0]), all);
  }

  /** By the clock: two threads are to finish sooner, not to work less. */
  private static Results.ThreadTimes measure(Subject subject, Backend backend, Effort effort) {
    try (Arena arena = Arena.ofShared()) {
      Workload work = new Workload(subject, backend, arena);
      work.check();
      Runnable two = () -> RowScheduler.run(subject.rows(), 2, work::run);
      long bytes = 2L * subject.elements() * subject.type().bytes();
      return new Results.ThreadTimes(
          bytes,
          Times.measure(
              List.of(two), List.of(work::run), new Interleaved(effort, System::nanoTime)));
    }
  }
}
