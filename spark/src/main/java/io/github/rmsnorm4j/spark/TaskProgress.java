package io.github.rmsnorm4j.spark;

import java.io.PrintStream;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/**
 * How far a job has come, for whoever is watching: a line every ten seconds, or Spark's own bar.
 * Short work is silent.
 */
final class TaskProgress extends SparkListener implements AutoCloseable {
  private static final long SECONDS = 10;
  private static final long PATIENCE_SECONDS = 60;

  private final PrintStream err;
  private final String style;
  private final ScheduledExecutorService clock;
  private int tasks;
  private int done;
  private long rows;
  private boolean started;
  private final Set<Long> running = new HashSet<>();
  private boolean over;
  private String shown = "";

  /**
   * Begins.
   *
   * @param style lines, bar or none
   */
  TaskProgress(PrintStream err, String style) {
    this.err = err;
    this.style = style;
    clock = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
    clock.scheduleAtFixedRate(this::show, SECONDS, SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted stage) {
    // One that is tried again, since an executor was lost, has the tasks of the first time.
    if (stage.stageInfo().attemptNumber() == 0) {
      tasks += stage.stageInfo().numTasks();
    }
  }

  @Override
  public synchronized void onTaskStart(SparkListenerTaskStart task) {
    started = true;
    running.add(task.taskInfo().taskId());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd task) {
    running.remove(task.taskInfo().taskId());
    if (task.reason() == Success$.MODULE$) {
      done++;
      rows += task.taskMetrics().outputMetrics().recordsWritten();
    }
    notifyAll();
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart job) {
    over = false;
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd job) {
    over = true;
    notifyAll();
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved executor) {
    if (!style.equals("none")) {
      err.println(
          Failure.oneLine(
              "executor %s was lost, its tasks are run again: %s"
                  .formatted(executor.executorId(), executor.reason())));
    }
  }

  /**
   * How many rows were written. Waits for the last of Spark's reports, which come a little after
   * the work is done.
   */
  synchronized long awaitRows() {
    await(() -> tasks > 0 && done >= tasks);
    return rows;
  }

  /** Waits for the end of the tasks of a job that has failed: those at work still write files. */
  synchronized void awaitTasks() {
    await(() -> (over || tasks == 0) && running.isEmpty());
  }

  private void await(BooleanSupplier reported) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    try {
      while (!reported.getAsBoolean() && System.nanoTime() < end) {
        TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
      }
    } catch (InterruptedException ignored) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void show() {
    if (tasks == 0 || style.equals("none") || started && style.equals("bar")) {
      return;
    }
    String line =
        started
            ? String.format(Locale.ROOT, "%d of %d tasks, %d rows written", done, tasks, rows)
            : "waiting for an executor";
    if (!line.equals(shown)) {
      err.println(line);
    }
    shown = line;
  }

  @Override
  public synchronized void close() {
    clock.shutdownNow();
  }
}
