package io.github.rmsnorm4j.internal.parallel;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Daemon threads that help with calls: they come when wanted and go when idle for long; past a
 * maximum, help is not had.
 *
 * <p>Waking a thread takes as long as a few MiB of rows. Calls that follow each other closely are
 * spared that: a helper that has done its part looks out for the next call, for about the time that
 * being woken would take, before it sleeps.
 */
final class Helpers {
  /** Calls of many callers share the helpers; more than the machine can run would be of no help. */
  static final int MAX = 4 * Runtime.getRuntime().availableProcessors();

  static final Helpers SHARED = new Helpers();

  /** For how long a thread looks out for another one; nothing where that one could not run. */
  static final long LOOKOUT_NANOS = Runtime.getRuntime().availableProcessors() == 1 ? 0 : 50_000;

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Those without a call, the last one to finish first: it is the likeliest to be awake. */
  private final ConcurrentLinkedDeque<Helper> idle = new ConcurrentLinkedDeque<>();

  private final AtomicInteger alive = new AtomicInteger();
  private final AtomicInteger started = new AtomicInteger();

  private Helpers() {}

  /**
   * Has a helper take part in a call, if there is one or may be one more.
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
    private volatile Call call;
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
        do {
          help(call);
        } while (awaitCall());
      } catch (OutOfMemoryError noMemoryToBeIdleIn) {
        // It ends without a word: the call is done, and a later one starts another helper.
      } finally {
        alive.decrementAndGet();
      }
    }

    /** Can be had again before the call is over, so that the caller's next one finds it. */
    private void help(Call now) {
      boolean joined = now.join();
      try {
        if (joined) {
          now.claimAll();
        }
        call = null;
        idle.addFirst(this);
      } finally {
        // Whatever happens, if only that there is no memory to be idle in: the caller waits for it.
        if (joined) {
          now.leave();
        }
      }
    }

    /** Until there is a call; false where there was none for long, and no one will give one. */
    private boolean awaitCall() {
      long end = System.nanoTime() + LOOKOUT_NANOS;
      while (call == null && System.nanoTime() - end < 0) {
        onSpinWait();
      }
      end = System.nanoTime() + IDLE_NANOS;
      asleep = true;
      while (call == null) {
        long left = end - System.nanoTime();
        if (left <= 0 && idle.remove(this)) {
          return false;
        }
        // With no time left somebody has it in hand, and is about to wake it.
        LockSupport.parkNanos(Helpers.this, left > 0 ? left : IDLE_NANOS);
        interrupted(); // is for nothing here, and would keep it from sleeping
      }
      asleep = false;
      return true;
    }
  }
}
