package io.github.rmsnorm4j.studies.compare;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/** Does work again and again until the JVM's compiler has nothing left to make of it. */
final class CompilerRest {
  /** The compiler has had enough once it was idle so long; it is not waited for forever. */
  private static final long IDLE_NANOS = 200_000_000;

  private static final long LONGEST_NANOS = 10_000_000_000L;

  /** Between runs of calls, for the compiler to have the processors. */
  private static final long PAUSE_NANOS = 2_000_000;

  private static final long RUN_NANOS = 2_000_000;

  private CompilerRest() {}

  static void after(Runnable work) {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    long start = System.nanoTime();
    long busy = start;
    long compiled = -1;
    while (System.nanoTime() - busy < IDLE_NANOS && System.nanoTime() - start < LONGEST_NANOS) {
      long run = System.nanoTime();
      do {
        work.run();
      } while (System.nanoTime() - run < RUN_NANOS);
      LockSupport.parkNanos(PAUSE_NANOS);
      long now = compiler == null ? 0 : compiler.getTotalCompilationTime();
      if (now != compiled) {
        compiled = now;
        busy = System.nanoTime();
      }
    }
  }
}
