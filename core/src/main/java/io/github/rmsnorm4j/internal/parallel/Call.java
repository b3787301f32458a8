package io.github.rmsnorm4j.internal.parallel;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One call: the caller and its helpers claim runs of rows until all rows are claimed. */
final class Call {
  /** Runs get shorter towards the end, down to this fraction of a thread's share. */
  private static final int SHORTEST_RUNS_PER_THREAD = 8;

  private final long rows;
  private final long shortest;
  private final int threads;
  private final RowScheduler.Rows work;
  private final AtomicLong claimed = new AtomicLong();
  private volatile int helping;
  private boolean over;
  private @Nullable Throwable failure;

  Call(long rows, int threads, RowScheduler.Rows work) {
    this.rows = rows;
    this.threads = threads;
    this.work = work;
    shortest = Math.max(1, rows / ((long) threads * SHORTEST_RUNS_PER_THREAD));
  }

  /**
   * Does the work, and returns when all rows are done.
   *
   * @param help asks for one more helper
   */
  void go(Consumer<Call> help) {
    try {
      askFor(help);
      claimAll();
    } finally {
      // In every case: no helper may work on the caller's memory after the call returns.
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
      // The caller goes on with the helpers that it has.
    }
  }

  /** A helper that joins after the end of the call has no work, and the caller does not wait. */
  synchronized boolean join() {
    if (!over) {
      helping++;
    }
    return !over;
  }

  /** Called by a helper that joined. */
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

  /** Keeps an interrupt for the caller, because an early return would leave rows half written. */
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
