package io.github.rmsnorm4j.cli;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Progress for whoever is watching: a bar that appears after a second, if standard error is a
 * terminal, and leaves no trace. In a pipe, and for short work, it is silent. Where the JVM is
 * ended meanwhile, as by Ctrl-C, the bar stays where it got to and its line is finished.
 */
final class Progress implements AutoCloseable {
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
  private static final int COLUMNS = 79;
  private static final int MIB = 1 << 20;

  private final PrintWriter err;
  private final long totalBytes;
  private final BooleanSupplier watched;
  private final LongSupplier nanos;
  private final long start;
  private boolean decided;
  private ProgressBar bar;
  private Thread atExit;
  private long done;

  /**
   * Begins the work.
   *
   * @param watched whether to show anything; asked once, and only if the work takes long
   */
  Progress(PrintWriter err, long totalBytes, BooleanSupplier watched) {
    this(err, totalBytes, watched, System::nanoTime);
  }

  /** Of another clock. */
  Progress(PrintWriter err, long totalBytes, BooleanSupplier watched, LongSupplier nanos) {
    this.err = err;
    this.totalBytes = totalBytes;
    this.watched = watched;
    this.nanos = nanos;
    this.start = nanos.getAsLong();
  }

  /** So many bytes more are done. */
  void step(long bytes) {
    done += bytes;
    if (!decided && nanos.getAsLong() - start > PATIENCE) {
      decided = true;
      bar = watched.getAsBoolean() ? show() : null;
    }
    if (bar != null) {
      bar.stepTo(done);
    }
  }

  private ProgressBar show() {
    Line line = new Line();
    atExit = new Thread(line::finish);
    try {
      Runtime.getRuntime().addShutdownHook(atExit);
    } catch (IllegalStateException _) {
      return null; // The JVM is being ended already.
    }
    return new ProgressBarBuilder()
        .setStyle(ProgressBarStyle.ASCII)
        .setInitialMax(totalBytes)
        .setUnit(" MiB", MIB)
        .setUpdateIntervalMillis(200)
        // Otherwise a step that comes while the bar is drawn is not shown before the next one.
        .continuousUpdate()
        .setConsumer(line)
        .build();
  }

  /** Wipes the bar away. */
  @Override
  public void close() {
    if (bar == null) {
      return;
    }
    bar.close();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException _) {
      // The JVM is being ended, and the line is finished, or will be in a moment.
    }
  }

  /** One line of the terminal, written over and over. */
  private final class Line implements ProgressBarConsumer {
    private boolean finished;

    @Override
    public int getMaxRenderedLength() {
      return COLUMNS;
    }

    @Override
    public synchronized void accept(String text) {
      if (!finished) {
        err.print("\r" + text);
        err.flush();
      }
    }

    /** Nothing comes after this: threads that go on until the JVM has ended write no more. */
    synchronized void finish() {
      finished = true;
      err.println();
      err.flush();
    }

    @Override
    public void close() {
      accept(" ".repeat(COLUMNS) + "\r");
    }
  }
}
