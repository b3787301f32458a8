package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.RowMemory.Access;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rows of a drawn call, with elements around and between them that must not change.
 *
 * @param before elements before the first row, and after the last
 * @param period rows that are groups of a wider row, one after the other
 * @param gap elements between rows, or between such wider rows
 * @param shift bytes by which elements are off their alignment
 * @param values by row; null where the rows are an output
 */
record DrawnRows(
    ElementType type,
    Access access,
    int before,
    int period,
    int gap,
    int shift,
    double[][] values) {
  private static final byte GUARD = 0x5a;

  /** Memory with the values in it. */
  MemorySegment memory(Arena arena, int rows, int width) {
    long bytes = shift + (2L * before + (long) rows * (width + gap)) * type.bytes();
    MemorySegment memory =
        switch (access) {
          case NATIVE, CHECKED -> arena.allocate(bytes, 64);
          case ARRAY -> array((int) bytes);
          case OTHER_ARRAY -> otherArray((int) bytes);
        };
    memory.fill(GUARD);
    MemorySegment elements = memory.asSlice(shift);
    for (int r = 0; values != null && r < rows; r++) {
      for (int i = 0; i < width; i++) {
        long first = r / period * ((long) period * width + gap) + (long) r % period * width;
        type.set(elements, before + first + i, values[r][i]);
      }
    }
    return memory;
  }

  private MemorySegment array(int bytes) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(new double[bytes / Double.BYTES]);
      case FLOAT32 -> MemorySegment.ofArray(new float[bytes / Float.BYTES]);
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(new short[bytes / Short.BYTES]);
    };
  }

  private MemorySegment otherArray(int bytes) {
    return shift > 0
        ? MemorySegment.ofArray(new byte[bytes])
        : MemorySegment.ofArray(new long[bytes / Long.BYTES + 1]);
  }

  RowMemory in(MemorySegment memory, int rows, int width) {
    int bytes = type.bytes();
    long wider = ((long) period * width + gap) * bytes;
    long span = (rows / period - 1) * wider + (long) period * width * bytes;
    MemorySegment segment = memory.asSlice(shift + (long) before * bytes, span);
    boolean addressable = access == Access.NATIVE || access == Access.ARRAY;
    long stride = period > 1 ? (long) width * bytes : rows == 1 ? 0 : wider;
    return period > 1
        ? new RowMemory(segment, type, stride, period, wider, addressable)
        : new RowMemory(segment, type, stride, 0, 0, addressable);
  }

  /** The same place for another type of the same size, without values. */
  DrawnRows as(ElementType other) {
    return new DrawnRows(other, access, before, period, gap, shift, null);
  }

  /** The bits of all elements and of those around them. A float32 or float64 NaN is any NaN. */
  long[] bits(MemorySegment memory) {
    MemorySegment elements = memory.asSlice(shift);
    long[] bits = new long[(int) (elements.byteSize() / type.bytes())];
    for (int i = 0; i < bits.length; i++) {
      bits[i] =
          type.bytes() == Short.BYTES
              ? elements.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i)
              : Double.doubleToLongBits(type.get(elements, i));
    }
    return bits;
  }

  @Override
  public String toString() {
    String place =
        access + ", " + before + " before, " + period + " each, gap " + gap + ", shift " + shift;
    return type + " in " + place + (values == null ? ", written" : "");
  }
}
