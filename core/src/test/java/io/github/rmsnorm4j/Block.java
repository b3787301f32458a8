package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Rows somewhere in memory, with guard elements around and between them that must not change. */
final class Block {
  private static final int GUARD = 5;
  private static final byte SENTINEL = 0x5a;

  final Rows rows;
  private final MemorySegment whole;
  private final long start;

  Block(Arena arena, Place place, ElementType type, int rows, int width, long stride) {
    long elements = rows == 0 ? 0 : (rows - 1) * stride + width;
    start = (long) GUARD * type.bytes();
    whole = place.allocate(arena, (elements + 2 * GUARD) * type.bytes(), type);
    whole.fill(SENTINEL);
    this.rows = view(whole.asSlice(start), place, type, rows, width, stride, elements);
  }

  /** By the door that suits the place. */
  private static Rows view(
      MemorySegment from,
      Place place,
      ElementType type,
      int rows,
      int width,
      long stride,
      long elements) {
    Object array = from.heapBase().orElse(null);
    if (place == Place.ARRAY) {
      return switch (array) {
        case float[] floats -> Rows.of(floats, GUARD, rows, width, stride);
        case double[] doubles -> Rows.of(doubles, GUARD, rows, width, stride);
        case short[] shorts -> Rows.of(shorts, type, GUARD, rows, width, stride);
        default -> throw new AssertionError(array);
      };
    }
    boolean buffer = place == Place.DIRECT_BUFFER || place == Place.HEAP_BUFFER;
    if (buffer && stride == width) {
      MemorySegment exact = from.asSlice(0, elements * type.bytes());
      return Rows.of(exact.asByteBuffer(), type, width);
    }
    return Rows.of(from, type, rows, width, stride);
  }

  private Block(Rows rows, MemorySegment whole, long start) {
    this.rows = rows;
    this.whole = whole;
    this.start = start;
  }

  /** The same memory seen as another type of the same size. */
  Block as(ElementType type) {
    Rows other = Rows.of(rows.segment(), type, rows.rows(), rows.width(), rows.rowStride());
    return new Block(other, whole, start);
  }

  void put(int row, double[] values) {
    MemorySegment image = Rounding.image(rows.type(), values);
    MemorySegment.copy(image, 0, whole, at(row, 0), image.byteSize());
  }

  /** The first element of a row that is not as wanted, or -1; one NaN is as good as another. */
  int mismatch(int row, double[] wanted) {
    MemorySegment image = Rounding.image(rows.type(), wanted);
    long at = at(row, 0);
    long size = image.byteSize();
    if (MemorySegment.mismatch(whole, at, at + size, image, 0, size) < 0) {
      return -1;
    }
    long[] bits = bits(row);
    for (int i = 0; i < wanted.length; i++) {
      if (bits[i] != Rounding.bits(rows.type(), wanted[i])) {
        return i;
      }
    }
    return -1;
  }

  /** The patterns of a row; a float32 or float64 NaN is any NaN, 16-bit ones are as they are. */
  long[] bits(int row) {
    MemorySegment from = whole.asSlice(at(row, 0), (long) rows.width() * rows.type().bytes());
    long[] bits = new long[rows.width()];
    // Copied first: an access to memory of any kind is slow until the JIT knows the kind.
    switch (rows.type()) {
      case FLOAT64 -> {
        double[] doubles = from.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
        Arrays.setAll(bits, i -> Double.doubleToLongBits(doubles[i]));
      }
      case FLOAT32 -> {
        float[] floats = from.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
        Arrays.setAll(bits, i -> Float.floatToIntBits(floats[i]));
      }
      case FLOAT16, BFLOAT16 -> {
        short[] shorts = from.toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
        Arrays.setAll(bits, i -> shorts[i] & 0xffff);
      }
    }
    return bits;
  }

  double[] values(int row) {
    long[] bits = bits(row);
    double[] values = new double[bits.length];
    Arrays.setAll(values, i -> Rounding.value(rows.type(), bits[i]));
    return values;
  }

  /** Whether all that is not an element of a row is as it was. */
  boolean isGuardIntact() {
    long at = 0;
    for (int r = 0; r <= rows.rows(); r++) {
      long end = r == rows.rows() ? whole.byteSize() : at(r, 0);
      for (; at < end; at++) {
        if (whole.get(ValueLayout.JAVA_BYTE, at) != SENTINEL) {
          return false;
        }
      }
      at += (long) rows.width() * rows.type().bytes();
    }
    return true;
  }

  private long at(int row, int i) {
    return start + (row * rows.rowStride() + i) * rows.type().bytes();
  }
}
