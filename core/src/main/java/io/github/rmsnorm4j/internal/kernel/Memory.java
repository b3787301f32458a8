package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Where the rows that a kernel reads or writes lie. */
public enum Memory {
  /** Outside the Java heap, at an absolute address. */
  NATIVE,
  /** In a {@code float[]} for float32 arithmetic, in a {@code double[]} for float64. */
  HEAP;

  /**
   * All of native memory. Its own class, so that it is made only where native access is enabled.
   */
  @SuppressWarnings("restricted")
  private static final class Native {
    /**
     * A constant, so that the JIT knows the exact class of every slice of it. Kernels that take a
     * segment from outside lose that, and with it a factor of 2 to 5, once a second kind of segment
     * has been seen.
     */
    static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }

  /**
   * A run of bytes as a segment whose class the JIT knows.
   *
   * @param base the array, null for native memory
   * @param offset bytes from the start of the array, or the address
   */
  public static MemorySegment floats(Memory memory, Object base, long offset, long bytes) {
    return memory == NATIVE
        ? Native.EVERYTHING.asSlice(offset, bytes)
        : MemorySegment.ofArray((float[]) base).asSlice(offset, bytes);
  }

  /** The same for float64 rows. */
  public static MemorySegment doubles(Memory memory, Object base, long offset, long bytes) {
    return memory == NATIVE
        ? Native.EVERYTHING.asSlice(offset, bytes)
        : MemorySegment.ofArray((double[]) base).asSlice(offset, bytes);
  }

  /** The element at a place, widened. */
  public static double element(Memory memory, boolean float64, Object base, long offset) {
    return float64
        ? doubles(memory, base, offset, Double.BYTES).get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 0)
        : floats(memory, base, offset, Float.BYTES).get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
  }
}
