package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * Does calls of threads whose floating-point unit is not in Java's state: rounding to nearest,
 * subnormal numbers as they are. Native code may leave another one (flush-to-zero,
 * denormals-are-zero), and then Java computes in it. Each call looks whether that is so, and runs
 * in Java's state all the same: machine code sets it, or else the thread of kernels does the call.
 */
public final class FloatingPointGuard {
  /** The code is made when it is first needed. */
  private static volatile @Nullable FloatingPointState state;

  /** Threads of tests that see by the results which code served. */
  static final Set<Thread> LEFT_ALONE = ConcurrentHashMap.newKeySet();

  private static boolean warned;

  private FloatingPointGuard() {}

  /**
   * Does a call in Java's state. False if that is not possible, and then nothing is done.
   *
   * @param ofAnyThread whether another thread may read and write what the call does
   */
  public static boolean runs(boolean ofAnyThread, Runnable call) {
    if (LEFT_ALONE.contains(Thread.currentThread())) {
      return false;
    }
    // A virtual thread that waits may go on in the state of another thread of the system.
    if (!Thread.currentThread().isVirtual()
        && Machine.isSwitchedOn()
        && Machine.here().bits() > 0) {
      FloatingPointState own = state;
      if (own == null) {
        own = new FloatingPointState();
        state = own;
      }
      own.inContract(call);
      return true;
    }
    if (ofAnyThread && !(Thread.currentThread() instanceof KernelThread)) {
      FutureTask<Void> task = new FutureTask<>(call, null);
      if (KernelThread.takes(task)) {
        await(task);
        return true;
      }
    }
    warn();
    return false;
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
              Thread.currentThread().getName());
    }
  }
}
