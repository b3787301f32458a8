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
 * How far a job has come, for whoever is watching: one line that is written over and over, or, for
 * a pipe, a line every ten seconds. Short work is silent.
 */
final class TaskProgress extends SparkListener implements AutoCloseable {
  /** How it is shown. */
  enum Style {
    none(0),
    lines(10_000),
    bar(250);

    private final long millis;

    Style(long millis) {
      this.millis = millis;
    }
  }

  private static final long PATIENCE_SECONDS = 60;
  private static final int COLUMNS = 79;

  private final PrintStream err;
  private final Style style;
  private final ScheduledExecutorService clock;
  private int tasks;
  private int done;
  private long rows;
  private boolean started;
  private final Set<Long> running = new HashSet<>();
  private boolean over;
  private String shown = "";

  TaskProgress(PrintStream err, Style style) {
    this.err = err;
    this.style = style;
    clock = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
    if (style != Style.none) {
      clock.scheduleAtFixedRate(
          this::show, Math.max(1000, style.millis), style.millis, TimeUnit.MILLISECONDS);
    }
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
    if (style != Style.none) {
      clear();
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
    if (clock.isShutdown() || tasks == 0) {
      return;
    }
    String line =
        started
            ? String.format(Locale.ROOT, "%d of %d tasks, %d rows written", done, tasks, rows)
            : "waiting for an executor";
    if (style == Style.bar) {
      err.print("\r" + line + " ".repeat(Math.max(0, shown.length() - line.length())));
      err.flush();
    } else if (!line.equals(shown)) {
      err.println(line);
    }
    shown = line;
  }

  private void clear() {
    if (style == Style.bar && !shown.isEmpty()) {
      err.print("\r" + " ".repeat(COLUMNS) + "\r");
      err.flush();
      shown = "";
    }
  }

  @Override
  public synchronized void close() {
    clock.shutdownNow();
    clear();
  }
}
