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
    return any(x.segment(), x.rows(), rowBytes(x), stride(x), y);
  }

  /** The same for rows of so many bytes at a stride in bytes. */
  static boolean any(MemorySegment x, long rows, long bytes, long stride, Rows y) {
    return any(x, rows, bytes, stride, y.segment(), y.rows(), rowBytes(y), stride(y));
  }

  /** Whether any row of x shares a byte with any row of y: rows of so many bytes at a stride. */
  static boolean any(
      MemorySegment x,
      long xRows,
      long xBytes,
      long xStride,
      MemorySegment y,
      long yRows,
      long yBytes,
      long yStride) {
    if (!sameMemory(x, y)) {
      return false;
    }
    long distance = y.address() - x.address();
    if (xStride == yStride || yRows == 1) {
      return meet(xRows, xBytes, xStride, yRows, yBytes, distance);
    }
    if (xRows < yRows) {
      return any(y, yRows, yBytes, yStride, x, xRows, xBytes, xStride);
    }
    for (long j = 0; j < yRows; j++) {
      if (meet(xRows, xBytes, xStride, 1, yBytes, distance + j * yStride)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether two operands share memory: rows, codes with their scales, float[] or double[]. Without
   * a switch over types, for which the JVM makes a class, as first calls come here.
   */
  static boolean any(Object a, Object b) {
    if (a instanceof Rows rows) {
      return b instanceof Rows others
          ? any(rows, others)
          : b instanceof QuantizedRows q ? any(q, rows) : withArray(rows, b);
    }
    if (b instanceof Rows rows) {
      return a instanceof QuantizedRows q ? any(q, rows) : withArray(rows, a);
    }
    return a == b;
  }

  /** Whether codes or scales share a byte with any row. */
  private static boolean any(QuantizedRows q, Rows rows) {
    long bytes = q.type().rowBytes(q.width());
    return any(q.codes(), q.rows(), bytes, q.codeStride(), rows)
        || q.scales() != null
            && any(q.scales(), q.rows(), scaleBytes(q), q.scaleStride() * Float.BYTES, rows);
  }

  /** Whether codes share a byte with their own scales. */
  static boolean codesAndScales(QuantizedRows q) {
    return q.scales() != null
        && any(
            q.codes(),
            q.rows(),
            q.type().rowBytes(q.width()),
            q.codeStride(),
            q.scales(),
            q.rows(),
            scaleBytes(q),
            q.scaleStride() * Float.BYTES);
  }

  private static long scaleBytes(QuantizedRows q) {
    return (long) q.type().scales(q.width()) * Float.BYTES;
  }

  /** Whether a view overlaps a float[] or double[], from its first element to its last. */
  private static boolean withArray(Rows x, Object array) {
    if (x.segment().isNative() || isOfAnother(x.segment(), array)) {
      return false;
    }
    if (array instanceof float[] floats) {
      return floats.length > 0 && any(x, Rows.of(floats, floats.length));
    }
    double[] doubles = (double[]) array;
    return doubles.length > 0 && any(x, Rows.of(doubles, doubles.length));
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
   * Whether a row of x overlaps one of y, which have the same stride and begin {@code distance}
   * bytes after x. The distance between row i of x and row j of y then depends on i - j alone, and
   * they overlap for i - j in an interval.
   */
  private static boolean meet(
      long xRows, long xBytes, long stride, long yRows, long yBytes, long distance) {
    long lowest = Math.floorDiv(distance - xBytes, stride) + 1;
    long highest = Math.ceilDiv(distance + yBytes, stride) - 1;
    return Math.max(lowest, 1 - yRows) <= Math.min(highest, xRows - 1);
  }

  private static long rowBytes(Rows rows) {
    return (long) rows.width() * rows.type().bytes();
  }

  /** Bytes from row to row; the stride of a single row may be any number. */
  private static long stride(Rows rows) {
    return rows.rows() == 1 ? rowBytes(rows) : rows.rowStride() * rows.type().bytes();
  }
}
