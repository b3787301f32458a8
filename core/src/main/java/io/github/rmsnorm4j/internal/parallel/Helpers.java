package io.github.rmsnorm4j.internal.parallel;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Daemon threads that help with calls. They start when they are needed and end after a long idle
 * time. Their number has a maximum; beyond it a call gets no helper.
 *
 * <p>Waking a thread takes as long as normalising a few MiB. Calls in quick succession avoid this:
 * a helper that has finished waits actively for the next call, for about as long as waking it would
 * take, before it sleeps.
 */
final class Helpers {
  /** Calls of many callers share the helpers; more than the machine can run would not help. */
  static final int MAX = 4 * Runtime.getRuntime().availableProcessors();

  static final Helpers SHARED = new Helpers(TimeUnit.SECONDS.toNanos(10));

  /** How long a thread waits actively for another one; 0 if the other one could not run. */
  static final long LOOKOUT_NANOS = Runtime.getRuntime().availableProcessors() == 1 ? 0 : 50_000;

  /** Idle helpers, the last one to finish first, because it is most likely awake. */
  private final ConcurrentLinkedDeque<Helper> idle = new ConcurrentLinkedDeque<>();

  private final AtomicInteger alive = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();
  private final long idleNanos;

  /**
   * Nobody helps at first.
   *
   * @param idleNanos how long a helper stays that no call wants
   */
  Helpers(long idleNanos) {
    this.idleNanos = idleNanos;
  }

  /**
   * Gives a call a helper, if one is idle or may be started.
   *
   * @throws OutOfMemoryError if no thread could be started
   */
  void ask(Call call) {
    Helper helper = idle.pollFirst();
    if (helper != null) {
      helper.give(call);
    } else if (alive.incrementAndGet() <= MAX) {
      start(call);
    } else {
      alive.decrementAndGet();
    }
  }

  private void start(Call call) {
    boolean running = false;
    try {
      new Helper(call).start();
      running = true;
    } finally {
      if (!running) {
        alive.decrementAndGet();
      }
    }
  }

  private final class Helper extends Thread {
    private volatile @Nullable Call call;
    private volatile boolean asleep;

    Helper(Call call) {
      super(null, null, "rmsnorm4j-" + started.incrementAndGet(), 0, false);
      this.call = call;
      setDaemon(true);
      setContextClassLoader(null);
    }

    void give(Call next) {
      call = next;
      if (asleep) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      try {
        for (Call next = call; next != null; next = awaitCall()) {
          help(next);
        }
      } catch (OutOfMemoryError noMemoryToBeIdleIn) {
        // It ends without a word: the call is done, and a later one starts another helper.
      } finally {
        alive.decrementAndGet();
      }
    }

    /** Becomes idle before the call is over, so that the caller's next call finds it. */
    private void help(Call now) {
      boolean joined = now.join();
      try {
        if (joined) {
          now.claimAll();
        }
        call = null;
        idle.addFirst(this);
      } finally {
        // In every case, even without memory to become idle: the caller waits for this.
        if (joined) {
          now.leave();
        }
      }
    }

    /** Waits for a call; null if there was none for long, and none can come any more. */
    private @Nullable Call awaitCall() {
      long end = System.nanoTime() + LOOKOUT_NANOS;
      while (call == null && System.nanoTime() - end < 0) {
        onSpinWait();
      }
      end = System.nanoTime() + idleNanos;
      asleep = true;
      while (call == null) {
        long left = end - System.nanoTime();
        if (left <= 0 && idle.remove(this)) {
          return null;
        }
        // The time is over, but a caller has taken this helper and is about to wake it.
        LockSupport.parkNanos(Helpers.this, left > 0 ? left : idleNanos);
        interrupted(); // Interrupts mean nothing here, and would prevent sleeping.
      }
      asleep = false;
      return call;
    }
  }
}
