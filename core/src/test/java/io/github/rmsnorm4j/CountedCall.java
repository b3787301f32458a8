package io.github.rmsnorm4j;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Calls of one kind, and how many bytes each of the last ones allocated. */
final class CountedCall {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /**
   * What a forward call may allocate: a few small objects, whatever the shape. They have 450 bytes
   * at most, and one small object for each of many rows has 2000 at least.
   */
  static final long FEW_BYTES = 1024;

  /** A backward call has more of them; and once more for each run of rows that threads claim. */
  private static final long BACKWARD_BYTES = 2 * FEW_BYTES;

  /** A backward call of groups with their own gain or its gradient is one call for each group. */
  private static final long GROUP_BYTES = 3 * FEW_BYTES;

  private static final int RUNS_OF_TWO = 8;

  /** Calls without which a kind cannot be said to be compiled. */
  private static final int ENOUGH = 100;

  private static final int COUNTED = 20;
  private static final int COUNTS = 3;
  private static final long COUNT_NANOS = 20_000_000;
  private static final long COMPILED_NANOS = 20_000_000_000L;

  private final PreparedCall call;
  private final boolean severalThreads;
  private final long allowed;
  private long calls;
  private long bytesPerCall;

  CountedCall(PreparedCall call) {
    this.call = call;
    severalThreads = call.kind.threads() > 1;
    long ofGroups = Math.max(BACKWARD_BYTES, call.kind.groups() * GROUP_BYTES);
    long bytes = call.kind.pass().isBackward() ? ofGroups : FEW_BYTES;
    allowed = severalThreads ? RUNS_OF_TWO * bytes : bytes;
  }

  /** Calls it once at least, and as often as is said while there is time. */
  void run(int most, long nanos) {
    long start = System.nanoTime();
    long before = allocatedBytes(severalThreads);
    int done = 0;
    do {
      call.run();
      done++;
    } while (done < most && System.nanoTime() - start < nanos);
    bytesPerCall = (allocatedBytes(severalThreads) - before) / done;
    calls += done;
  }

  /** The fewest bytes of a few counts: something else may happen in one of them. */
  void count() {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < COUNTS; i++) {
      run(COUNTED, COUNT_NANOS);
      fewest = Math.min(fewest, bytesPerCall);
    }
    bytesPerCall = fewest;
  }

  /**
   * The fewest bytes that one call allocates: it is repeated until they are few enough, for some
   * seconds of the processor at most. By then the JIT has compiled it, however busy the machine is.
   */
  static long fewestBytes(Runnable call, long enough) {
    long end = SYSTEM.getProcessCpuTime() + COMPILED_NANOS;
    long fewest = Long.MAX_VALUE;
    do {
      long before = allocatedBytes(false);
      call.run();
      fewest = Math.min(fewest, allocatedBytes(false) - before);
    } while (fewest > enough && SYSTEM.getProcessCpuTime() < end);
    return fewest;
  }

  /** By this thread, or by all of them: helpers allocate too. */
  static long allocatedBytes(boolean byAll) {
    return byAll
        ? THREADS.getTotalThreadAllocatedBytes()
        : THREADS.getCurrentThreadAllocatedBytes();
  }

  /** Whether it was called often enough, and allocated as little as it may in the last calls. */
  boolean isFine() {
    return calls >= ENOUGH && !isOver();
  }

  boolean isOver() {
    return bytesPerCall > allowed;
  }

  @Override
  public String toString() {
    return (bytesPerCall + " bytes a call, allowed " + allowed)
        + (", after " + calls + " calls: " + call.kind);
  }
}
