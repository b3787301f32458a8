package io.github.rmsnorm4j.studies.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Spreads the rows of one operation over threads, by the rule that the library's norms go by, so
 * that neither form has more of the machine than the other.
 */
final class Crew implements AutoCloseable {
  /** Bytes read and written that make one more thread worth its start: as in the library. */
  private static final long BYTES_PER_THREAD = 1 << 20;

  private static final int RUNS_PER_THREAD = 4;

  final int threads;
  private final ExecutorService helpers;

  /** What is done to a run of rows. */
  interface Rows {
    void run(int from, int to);
  }

  Crew(int threads) {
    this.threads = threads;
    helpers =
        Executors.newCachedThreadPool(
            body -> {
              Thread thread = new Thread(body, "compare");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Does all rows of an operation that moves so many bytes, and returns when they are done. */
  void run(int rows, long bytes, Rows work) {
    int wanted = Math.clamp(bytes / BYTES_PER_THREAD, 1, Math.min(threads, rows));
    if (wanted == 1) {
      work.run(0, rows);
      return;
    }
    int run = Math.max(1, rows / (wanted * RUNS_PER_THREAD));
    AtomicInteger next = new AtomicInteger();
    int runs = Math.ceilDiv(rows, run);
    Runnable claim =
        () -> {
          for (int i = next.getAndIncrement(); i < runs; i = next.getAndIncrement()) {
            work.run(i * run, (int) Math.min(rows, (i + 1L) * run));
          }
        };
    List<Future<?>> helping = new ArrayList<>();
    for (int i = 1; i < wanted; i++) {
      helping.add(helpers.submit(claim));
    }
    claim.run();
    helping.forEach(Crew::await);
  }

  private static void await(Future<?> helper) {
    try {
      helper.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public void close() {
    helpers.shutdownNow();
  }
}
