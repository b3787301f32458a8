package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rows of float16 to float32, exactly, and back, by one rounding to nearest, ties to even. The JIT
 * turns these loops into the machine's conversions; the Vector API of JDK 25 has none.
 */
public final class Float16Rows {
  private Float16Rows() {}

  /**
   * Decodes n patterns of an array, or of native memory where that is null.
   *
   * @param at bytes from the array's start, or the address
   */
  public static void decode(short[] from, long at, float[] into, int start, int n) {
    if (from == null) {
      decode(at & Memory.ADDRESSES, into, start, n);
      return;
    }
    int first = (int) (at >> 1);
    for (int i = 0; i < n; i++) {
      into[start + i] = Float.float16ToFloat(from[first + i]);
    }
  }

  private static void decode(long at, float[] into, int start, int n) {
    MemorySegment memory = Memory.Native.EVERYTHING;
    for (int i = 0; i < n; i++) {
      short pattern = memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + 2L * i);
      into[start + i] = Float.float16ToFloat(pattern);
    }
  }

  /** Encodes n values the same way, among which every NaN must be the canonical one. */
  public static void encode(float[] from, int start, short[] into, long at, int n) {
    if (into == null) {
      encode(from, start, at & Memory.ADDRESSES, n);
      return;
    }
    int first = (int) (at >> 1);
    for (int i = 0; i < n; i++) {
      into[first + i] = Float.floatToFloat16(from[start + i]);
    }
  }

  private static void encode(float[] from, int start, long at, int n) {
    MemorySegment memory = Memory.Native.EVERYTHING;
    for (int i = 0; i < n; i++) {
      short pattern = Float.floatToFloat16(from[start + i]);
      memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + 2L * i, pattern);
    }
  }
}
