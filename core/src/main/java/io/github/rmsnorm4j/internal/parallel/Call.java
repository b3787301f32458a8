package io.github.rmsnorm4j.internal.parallel;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** One call: rows claimed run by run, by the caller and by helpers while they last. */
final class Call {
  /** Runs get shorter towards the end, down to this part of a thread's share. */
  private static final int SHORTEST_RUNS_PER_THREAD = 8;

  private final long rows;
  private final long shortest;
  private final int threads;
  private final RowScheduler.Rows work;
  private final AtomicLong claimed = new AtomicLong();
  private volatile int helping;
  private boolean over;
  private Throwable failure;

  Call(long rows, int threads, RowScheduler.Rows work) {
    this.rows = rows;
    this.threads = threads;
    this.work = work;
    shortest = Math.max(1, rows / ((long) threads * SHORTEST_RUNS_PER_THREAD));
  }

  /**
   * Does the work, and returns when all of it is done.
   *
   * @param help is asked for one helper each time
   */
  void go(Consumer<Call> help) {
    try {
      askFor(help);
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

  private void askFor(Consumer<Call> help) {
    try {
      for (int i = 1; i < threads; i++) {
        help.accept(this);
      }
    } catch (OutOfMemoryError noMoreThreads) {
      // The caller does with the helpers it has.
    }
  }

  /** A helper that comes when the call is over finds nothing to do, and nobody waits for it. */
  synchronized boolean join() {
    if (!over) {
      helping++;
    }
    return !over;
  }

  /** To be called by who joined. */
  synchronized void leave() {
    helping--;
    notifyAll();
  }

  /** Works until all rows are claimed. */
  void claimAll() {
    try {
      for (long from = claimed.get(); from < rows; from = claimed.get()) {
        long to = from + Math.min(rows - from, Math.max(shortest, (rows - from) / (2L * threads)));
        if (claimed.compareAndSet(from, to)) {
          work.run(from, to);
        }
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
  private void awaitHelpers() {
    synchronized (this) {
      over = true;
    }
    long end = System.nanoTime() + Helpers.LOOKOUT_NANOS;
    while (helping > 0 && System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
    boolean interrupted = false;
    synchronized (this) {
      while (helping > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
