package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.Shortage;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does calls of threads whose floating-point unit is not in Java's state: rounding to nearest,
 * subnormal numbers as they are. Native code may leave another one (flush-to-zero,
 * denormals-are-zero), and then Java computes in it. Each call looks whether that is so, and runs
 * in Java's state all the same: machine code sets it, or else a thread of the library does the
 * call. The JVM starts a thread in Java's state.
 */
public final class FloatingPointGuard {
  private static final long IDLE_SECONDS = 5;

  /** Threads of tests that see by the results which code served. */
  static final Set<Thread> LEFT_ALONE = ConcurrentHashMap.newKeySet();

  /** One for each call at a time. They end when they are idle, and keep no class loader alive. */
  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          new Starter());

  /** The code is made when it is first needed. */
  private static volatile @Nullable FloatingPointState state;

  private static boolean warned;

  private FloatingPointGuard() {}

  private static final class Starter implements ThreadFactory {
    @Override
    public Thread newThread(Runnable work) {
      return new OwnThread(work);
    }
  }

  private static final class OwnThread extends Thread {
    OwnThread(Runnable work) {
      super(null, work, "rmsnorm4j-java-state", 0, false);
      setDaemon(true);
      setContextClassLoader(null);
    }
  }

  /** What a computation gives in Java's state, or in that of the thread if there is no other. */
  public static <T> T of(Supplier<T> computation) {
    Object[] value = new Object[1];
    if (!runs(true, () -> value[0] = computation.get())) {
      return computation.get();
    }
    @SuppressWarnings("unchecked")
    T given = (T) value[0];
    return given;
  }

  /**
   * Does a call in Java's state. False if that is not possible, and then nothing is done.
   *
   * @param ofAnyThread whether another thread may read and write what the call does
   */
  public static boolean runs(boolean ofAnyThread, Runnable call) {
    if (LEFT_ALONE.contains(Thread.currentThread())) {
      return false;
    }
    FloatingPointState own = state();
    if (own != null) {
      own.inContract(call);
      return true;
    }
    if (ofAnyThread && !(Thread.currentThread() instanceof OwnThread)) {
      FutureTask<Void> task = new FutureTask<>(call, null);
      if (isStarted(task)) {
        await(task);
        return true;
      }
    }
    warn();
    return false;
  }

  /** What sets the state of this thread; null where nothing does. */
  private static @Nullable FloatingPointState state() {
    // A virtual thread that waits may go on in the state of another thread of the system.
    if (Thread.currentThread().isVirtual()
        || !Machine.isSwitchedOn()
        || Machine.here().bits() == 0) {
      return null;
    }
    FloatingPointState own = state;
    return own == null ? made() : own;
  }

  private static synchronized @Nullable FloatingPointState made() {
    try {
      if (state == null && !Shortage.lasts()) {
        state = new FloatingPointState();
      }
    } catch (OutOfMemoryError e) {
      Shortage.note(e);
    }
    return state;
  }

  private static boolean isStarted(FutureTask<Void> task) {
    try {
      THREADS.execute(task);
      return true;
    } catch (OutOfMemoryError noThread) {
      return false;
    }
  }

  /** Keeps an interrupt for the caller, because an early return would leave rows half written. */
  private static void await(FutureTask<Void> task) {
    boolean interrupted = false;
    while (true) {
      try {
        task.get();
        return;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) e.getCause();
      } finally {
        if (interrupted && task.isDone()) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private static synchronized void warn() {
    if (!warned) {
      warned = true;
      System.getLogger("io.github.rmsnorm4j")
          .log(
              System.Logger.Level.WARNING,
              "the floating-point unit of thread {0} flushes to zero or rounds differently from"
                  + " Java: results may differ",
              Thread.currentThread());
    }
  }
}
