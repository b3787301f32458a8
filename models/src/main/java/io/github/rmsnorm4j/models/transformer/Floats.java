package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Float32 elements of native memory, for loops.
 *
 * <p>A slice of a constant segment has a class that the JIT knows. A segment that comes from
 * elsewhere has not, and loops over it become several times slower once the process has used other
 * kinds of segments. To be made once for a memory: a slice is an object more often than not. Bounds
 * are checked as for any segment. Does not keep the memory alive.
 */
record Floats(MemorySegment exact) {
  /** Checks that it is whole floats in native memory. */
  Floats {
    exact = Native.EVERYTHING.asSlice(exact.address(), exact.byteSize());
  }

  float get(long i) {
    return exact.get(ValueLayout.JAVA_FLOAT, i * Float.BYTES);
  }

  void set(long i, float value) {
    exact.set(ValueLayout.JAVA_FLOAT, i * Float.BYTES, value);
  }

  /** Its own class, so that it is made only when there is memory to reach. */
  @SuppressWarnings("restricted")
  private static final class Native {
    static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }
}
