package io.github.rmsnorm4j.internal.parallel;

import java.util.function.Consumer;

/**
 * Spreads rows over threads. The caller works too and claims runs of rows like its helpers, so busy
 * helpers never delay a call. The result of a row does not depend on the thread.
 */
public final class RowScheduler {
  /** The work on a run of rows. */
  public interface Rows {
    /** Works on rows {@code from} (inclusive) to {@code to} (exclusive). */
    void run(long from, long to);
  }

  private RowScheduler() {}

  /**
   * Does all rows and returns when they are done.
   *
   * @param threads the most threads, including the caller's
   * @throws RuntimeException or Error the first exception of the work, in any thread
   */
  public static void run(long rows, int threads, Rows work) {
    run(rows, threads, work, Helpers.SHARED::ask);
  }

  /** Does all rows, with helpers that {@code help} asks. */
  static void run(long rows, int threads, Rows work, Consumer<Call> help) {
    int wanted = (int) Math.min(threads, rows);
    if (wanted <= 1) {
      work.run(0, rows);
    } else {
      new Call(rows, wanted, work).go(help);
    }
  }
}
