package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.Arena;

/**
 * What a real process does before the call that counts: both norms on every element type, in every
 * kind of memory, at three widths, each until it is compiled. Kernels that share a type profile
 * become several times slower by it; those of this library must not.
 */
public final class Pollution {
  private static final int[] WIDTHS = {64, 1000, 4096};
  private static final int ROWS = 2;

  /** For each way, at least; enough to be compiled. */
  private static final int CALLS = 2000;

  private static final long NANOS = 25_000_000;
  private static final int QUICK_CALLS = 100;

  private Pollution() {}

  /**
   * Pollutes this process.
   *
   * @param backend of the norms
   * @param quick whether compiled kernels do not matter
   */
  public static void run(Backend backend, boolean quick) {
    for (Kernel kernel : Kernel.values()) {
      for (ElementType type : ElementType.values()) {
        for (Memory memory : Memory.values()) {
          for (int width : WIDTHS) {
            Subject norm = new Subject(kernel, type, memory, ROWS, width, false, Job.NORM);
            run(norm, backend, quick);
            if (type == ElementType.FLOAT32) {
              run(norm.with(Job.BACKWARD), backend, quick);
              run(norm.with(Job.ADD_AND_NORM), backend, quick);
            }
          }
        }
      }
    }
  }

  private static void run(Subject subject, Backend backend, boolean quick) {
    try (Arena arena = Arena.ofConfined()) {
      run(subject.task(backend, arena)::run, quick);
    }
  }

  /**
   * Calls something until it is compiled.
   *
   * @param call whatever a real process may do
   * @param quick whether compiled kernels do not matter
   */
  public static void run(Runnable call, boolean quick) {
    long end = System.nanoTime() + (quick ? 0 : NANOS);
    for (int calls = 0; calls < (quick ? QUICK_CALLS : CALLS) || System.nanoTime() < end; calls++) {
      call.run();
    }
  }
}
