package io.github.rmsnorm4j.internal.norm;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The thread that makes kernels while calls go on without them, as the JIT compiles. It starts with
 * the first work, and ends after some seconds without any. So it keeps no class loader alive.
 */
public final class KernelThread extends Thread {
  private static final long IDLE_SECONDS = 5;

  /** How long a call waits for its kernel at most. */
  private static final long MOST_NANOS = 10_000_000_000L;

  private static final ThreadPoolExecutor ONE =
      new ThreadPoolExecutor(
          1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new Starter());

  static {
    ONE.allowCoreThreadTimeOut(true);
  }

  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private KernelThread(Runnable work) {
    super(null, work, "rmsnorm4j-kernels", 0, false);
    setDaemon(true);
    setContextClassLoader(null);
  }

  /** A class and no lambda, which takes the JVM milliseconds in a call. */
  private static final class Starter implements ThreadFactory {
    @Override
    public Thread newThread(Runnable work) {
      return new KernelThread(work);
    }
  }

  /** Something to do. The first thing that work throws in a process is logged. */
  public static final class Work extends FutureTask<Void> {
    /** Not begun. */
    public Work(Runnable work) {
      super(work, null);
    }

    /**
     * Whether it is done. If the caller may wait for it, that may become so; an interrupt is still
     * set then. The thread of kernels does not wait for itself: it does the work now.
     */
    boolean isOverAfter(boolean waiting) {
      if (Thread.currentThread() instanceof KernelThread) {
        run();
      } else if (waiting) {
        await();
      }
      return isDone();
    }

    private void await() {
      boolean interrupted = false;
      long end = System.nanoTime() + MOST_NANOS;
      long left = MOST_NANOS;
      while (!isDone() && left > 0) {
        try {
          get(left, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
          break; // The call goes on in plain Java.
        }
        left = end - System.nanoTime();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    protected void setException(Throwable failure) {
      super.setException(failure);
      if (!WARNED.getAndSet(true)) {
        System.getLogger("io.github.rmsnorm4j")
            .log(System.Logger.Level.WARNING, "a kernel could not be made", failure);
      }
    }
  }

  /** Does work later; now if no thread can be started. */
  public static void later(Work work) {
    try {
      ONE.execute(work);
    } catch (OutOfMemoryError noThread) {
      work.run();
    }
  }
}
