package io.github.rmsnorm4j.internal.parallel;

import java.util.function.Consumer;

/**
 * Spreads rows over threads. The caller works too and claims runs of rows like everybody else, so a
 * call is never worse off for busy helpers. Which thread does a row changes nothing about the row.
 */
public final class RowScheduler {
  /** What is done to a run of rows. */
  public interface Rows {
    /** Works on rows {@code from} (inclusive) to {@code to} (exclusive). */
    void run(long from, long to);
  }

  private RowScheduler() {}

  /**
   * Does all rows and returns when they are done.
   *
   * @param threads how many threads at most, the caller among them
   * @throws RuntimeException or Error what the work threw first, in whatever thread
   */
  public static void run(long rows, int threads, Rows work) {
    run(rows, threads, work, Helpers.SHARED::ask);
  }

  /** The same with helpers from elsewhere. */
  static void run(long rows, int threads, Rows work, Consumer<Call> help) {
    int wanted = (int) Math.min(threads, rows);
    if (wanted <= 1) {
      work.run(0, rows);
    } else {
      new Call(rows, wanted, work).go(help);
    }
  }
}
