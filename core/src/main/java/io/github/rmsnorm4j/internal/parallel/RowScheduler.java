package io.github.rmsnorm4j.internal.parallel;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Spreads rows over threads. The caller works too and claims runs of rows like everybody else, so a
 * call is never worse off for a busy pool. Which thread does a row changes nothing about the row.
 */
public final class RowScheduler {
  /** What is done to a run of rows. */
  public interface Rows {
    /** Works on rows {@code from} (inclusive) to {@code to} (exclusive). */
    void run(long from, long to);
  }

  /** Runs a thread claims, on average: enough that a thread held up does not hold up the call. */
  private static final int RUNS_PER_THREAD = 4;

  /** Calls of many callers share the helpers; more than the machine can run would be of no help. */
  static final int MAX_HELPERS = 4 * Runtime.getRuntime().availableProcessors();

  private static final AtomicInteger HELPERS = new AtomicInteger();

  /** Daemon threads that come when wanted and go when idle; past the maximum, help is not had. */
  private static final ThreadPoolExecutor POOL =
      new ThreadPoolExecutor(
          0,
          MAX_HELPERS,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          RowScheduler::helper,
          new ThreadPoolExecutor.DiscardPolicy());

  private RowScheduler() {}

  private static Thread helper(Runnable body) {
    Thread thread = new Thread(null, body, "rmsnorm4j-" + HELPERS.incrementAndGet(), 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    return thread;
  }

  /**
   * Does all rows and returns when they are done.
   *
   * @param threads how many threads at most, the caller among them
   * @throws RuntimeException or Error what the work threw first, in whatever thread
   */
  public static void run(long rows, int threads, Rows work) {
    run(rows, threads, work, POOL);
  }

  /** The same with helpers from elsewhere. */
  static void run(long rows, int threads, Rows work, Executor helpers) {
    int wanted = (int) Math.min(threads, rows);
    if (wanted <= 1) {
      work.run(0, rows);
      return;
    }
    new Call(rows, wanted, work).go(helpers);
  }

  /** One call: rows claimed run by run, by the caller and by helpers while they last. */
  private static final class Call implements Runnable {
    private final long rows;
    private final long run;
    private final int threads;
    private final Rows work;
    private final AtomicLong claimed = new AtomicLong();
    private int helping;
    private boolean over;
    private Throwable failure;

    Call(long rows, int threads, Rows work) {
      this.rows = rows;
      this.threads = threads;
      this.work = work;
      run = Math.max(1, rows / ((long) threads * RUNS_PER_THREAD));
    }

    void go(Executor helpers) {
      try {
        askForHelp(helpers);
        claimAll();
      } finally {
        // Whatever happens here: nobody may be at work on the caller's memory when it has it back.
        awaitHelpers();
      }
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure != null) {
        throw (RuntimeException) failure;
      }
    }

    private void askForHelp(Executor helpers) {
      try {
        for (int i = 1; i < threads; i++) {
          helpers.execute(this);
        }
      } catch (OutOfMemoryError noMoreThreads) {
        // The caller does with the helpers it has.
      }
    }

    /** A helper that comes when the call is over finds nothing to do, and nobody waits for it. */
    @Override
    public void run() {
      synchronized (this) {
        if (over) {
          return;
        }
        helping++;
      }
      try {
        claimAll();
      } finally {
        synchronized (this) {
          helping--;
          notifyAll();
        }
      }
    }

    private void claimAll() {
      try {
        for (long from = claimed.getAndAdd(run); from < rows; from = claimed.getAndAdd(run)) {
          work.run(from, Math.min(rows, from + run));
        }
      } catch (RuntimeException | Error e) {
        claimed.set(rows);
        synchronized (this) {
          if (failure == null) {
            failure = e;
          }
        }
      }
    }

    /** An interrupt is kept for the caller: rows half written would be worse. */
    private synchronized void awaitHelpers() {
      over = true;
      boolean interrupted = false;
      while (helping > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
