package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.norm.KernelThread;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** For tests of what is served after kernels are ready. */
public final class KernelsReady {
  private KernelsReady() {}

  /** Waits until all is made that was asked for. */
  public static void await() throws InterruptedException, ExecutionException, TimeoutException {
    KernelThread.Work last = new KernelThread.Work(() -> {});
    KernelThread.later(last);
    last.get(1, TimeUnit.MINUTES);
  }
}
