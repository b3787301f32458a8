package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;

/** Whether the elements of two views share memory. */
final class Overlap {
  private Overlap() {}

  /** Whether x and y are the same rows of the same memory, element for element: in place. */
  static boolean isInPlace(Rows x, Rows y) {
    return x.segment().address() == y.segment().address()
        && x.type().bytes() == y.type().bytes()
        && (x.rows() <= 1 || x.rowStride() == y.rowStride());
  }

  /**
   * Whether any row of x shares a byte with any row of y. The gaps between rows do not count: parts
   * of a fused projection interleave without sharing anything.
   */
  static boolean any(Rows x, Rows y) {
    if (!sameMemory(x.segment(), y.segment())) {
      return false;
    }
    long distance = y.segment().address() - x.segment().address();
    if (stride(x) == stride(y) || y.rows() == 1) {
      return meet(x, stride(x), y, y.rows(), distance);
    }
    if (x.rows() < y.rows()) {
      return any(y, x);
    }
    for (long j = 0; j < y.rows(); j++) {
      if (meet(x, stride(x), y, 1, distance + j * stride(y))) {
        return true;
      }
    }
    return false;
  }

  /** Whether a view overlaps a float[] or double[], from its first element to its last. */
  static boolean withArray(Rows x, Object array) {
    if (x.segment().isNative() || isOfAnother(x.segment(), array)) {
      return false;
    }
    return switch (array) {
      case float[] floats -> floats.length > 0 && any(x, Rows.of(floats, floats.length));
      case double[] doubles -> doubles.length > 0 && any(x, Rows.of(doubles, doubles.length));
      default -> throw new AssertionError("an array of " + array.getClass());
    };
  }

  /** Whether it is certainly a view of another array: a read-only view does not tell. */
  private static boolean isOfAnother(MemorySegment heap, Object array) {
    return heap.heapBase().orElse(array) != array;
  }

  /** Makes no slice of native memory: that would be an object for each of many checks per call. */
  private static boolean sameMemory(MemorySegment a, MemorySegment b) {
    if (a.byteSize() == 0 || b.byteSize() == 0 || a.isNative() != b.isNative()) {
      return false;
    }
    if (!a.isNative()) {
      return a.asOverlappingSlice(b).isPresent();
    }
    return a.address() < b.address() + b.byteSize() && b.address() < a.address() + a.byteSize();
  }

  /**
   * Whether a row of x overlaps one of {@code rowsOfY} rows of y, which have the same stride and
   * begin {@code distance} bytes after x. The distance between row i of x and row j of y then
   * depends on i - j alone, and they overlap for i - j in an interval.
   */
  private static boolean meet(Rows x, long stride, Rows y, long rowsOfY, long distance) {
    long lowest = Math.floorDiv(distance - rowBytes(x), stride) + 1;
    long highest = Math.ceilDiv(distance + rowBytes(y), stride) - 1;
    return Math.max(lowest, 1 - rowsOfY) <= Math.min(highest, x.rows() - 1);
  }

  private static long rowBytes(Rows rows) {
    return (long) rows.width() * rows.type().bytes();
  }

  /** Bytes from row to row; the stride of a single row may be any number. */
  private static long stride(Rows rows) {
    return rows.rows() == 1 ? rowBytes(rows) : rows.rowStride() * rows.type().bytes();
  }
}
