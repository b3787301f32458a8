package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies of rows that are not in arrays. A class of its own, since few programs have such rows. */
final class Copies {
  private Copies() {}

  /** Copies elements from one of them on. */
  static void load(Rows from, long element, float[] values, int width) {
    long at = element * Float.BYTES;
    MemorySegment.copy(from.segment(), ValueLayout.JAVA_FLOAT_UNALIGNED, at, values, 0, width);
  }

  /** Likewise, back. */
  static void store(float[] values, Rows into, long element, int width) {
    long at = element * Float.BYTES;
    MemorySegment.copy(values, 0, into.segment(), ValueLayout.JAVA_FLOAT_UNALIGNED, at, width);
  }
}
