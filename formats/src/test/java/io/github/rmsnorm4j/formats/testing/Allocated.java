package io.github.rmsnorm4j.formats.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts what a test puts on the heap. */
public final class Allocated {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocated() {}

  /** Bytes that this thread has allocated so far. */
  public static long bytes() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
