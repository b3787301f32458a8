package io.github.rmsnorm4j.internal.norm;

import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The thread that makes kernels while calls go on without them, as the JIT compiles. It starts with
 * the first work, and ends after some seconds without any. So it keeps no class loader alive.
 */
public final class KernelThread extends Thread {
  private static final long IDLE_SECONDS = 5;

  private static final ThreadPoolExecutor ONE =
      new ThreadPoolExecutor(
          1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), KernelThread::new);

  static {
    ONE.allowCoreThreadTimeOut(true);
  }

  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private KernelThread(Runnable work) {
    super(null, work, "rmsnorm4j-kernels", 0, false);
    setDaemon(true);
    setContextClassLoader(null);
  }

  /** Something to do. What it throws is logged once in a process. */
  public static final class Work extends FutureTask<Void> {
    /** Not begun. */
    public Work(Runnable work) {
      super(work, null);
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

  /** Whether the caller is this thread, which must not wait for its own work. */
  static boolean isCurrent() {
    return Thread.currentThread() instanceof KernelThread;
  }

  /** Does work later, or now if this is the thread, or none can be started. */
  public static void later(Work work) {
    if (isCurrent()) {
      work.run();
      return;
    }
    try {
      ONE.execute(work);
    } catch (OutOfMemoryError noThread) {
      work.run();
    }
  }
}
