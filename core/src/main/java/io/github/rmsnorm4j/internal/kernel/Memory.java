package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where the rows that a kernel reads or writes lie, and how one element is reached: by {@code
 * base}, an array or null, {@code offset}, bytes from the array's start or an absolute address, and
 * the element's index from there.
 *
 * <p>Kernels make no segments of their own. A slice is free only where the JIT inlines its making,
 * and it does not always; then its class is forgotten, and the loop is 2 to 5 times slower once the
 * process has used another kind of segment.
 */
public enum Memory {
  /** Outside the Java heap, at an absolute address. */
  NATIVE,
  /** In a {@code float[]} for float32 arithmetic, in a {@code double[]} for float64. */
  HEAP;

  /**
   * All of native memory lies below 2^62. Telling the JIT so, with one {@code &}, makes it drop the
   * range check of every access, which it could otherwise only move out by splitting the loop.
   */
  static final long ADDRESSES = (1L << 62) - 1;

  /** Its own class, so that it is made only where native access is enabled. */
  @SuppressWarnings("restricted")
  static final class Native {
    /** All of native memory, a constant whose class the JIT knows. */
    static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Native() {}
  }

  static float getFloat(Memory memory, Object base, long offset, int i) {
    return memory == HEAP
        ? ((float[]) base)[(int) (offset >> 2) + i]
        : Native.EVERYTHING.get(ValueLayout.JAVA_FLOAT_UNALIGNED, (offset + 4L * i) & ADDRESSES);
  }

  static double getDouble(Memory memory, Object base, long offset, int i) {
    return memory == HEAP
        ? ((double[]) base)[(int) (offset >> 3) + i]
        : Native.EVERYTHING.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, (offset + 8L * i) & ADDRESSES);
  }

  static void setFloat(Memory memory, Object base, long offset, int i, float value) {
    if (memory == HEAP) {
      ((float[]) base)[(int) (offset >> 2) + i] = value;
    } else {
      Native.EVERYTHING.set(ValueLayout.JAVA_FLOAT_UNALIGNED, (offset + 4L * i) & ADDRESSES, value);
    }
  }

  static void setDouble(Memory memory, Object base, long offset, int i, double value) {
    if (memory == HEAP) {
      ((double[]) base)[(int) (offset >> 3) + i] = value;
    } else {
      Native.EVERYTHING.set(
          ValueLayout.JAVA_DOUBLE_UNALIGNED, (offset + 8L * i) & ADDRESSES, value);
    }
  }

  /** The element of a float64 row, or of a float32 row widened. */
  public double get(boolean float64, Object base, long offset, int i) {
    return float64 ? getDouble(this, base, offset, i) : getFloat(this, base, offset, i);
  }

  /** Writes a value to a float64 row, or to a float32 row, rounded. */
  public void set(boolean float64, Object base, long offset, int i, double value) {
    if (float64) {
      setDouble(this, base, offset, i, value);
    } else {
      setFloat(this, base, offset, i, (float) value);
    }
  }
}
