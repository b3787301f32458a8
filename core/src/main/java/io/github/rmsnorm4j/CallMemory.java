package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * How kernels reach the rows of a checked call: in place, or through copies in arrays; and which
 * threads may do so.
 *
 * @param addresses whether kernels may address native memory
 */
record CallMemory(boolean addresses) {
  /** Rows of which each group is a row. */
  RowMemory of(Rows rows, int groups) {
    int bytes = rows.type().bytes();
    long apart = rows.rows() == 1 ? 0 : rows.rowStride() * bytes;
    if (groups == 1) {
      return rows.memory(apart, 0, 0, isAddressable(rows));
    }
    int width = rows.width() / groups;
    boolean atOneStride = rows.rows() == 1 || rows.rowStride() == rows.width();
    return atOneStride
        ? rows.memory((long) width * bytes, 0, 0, isAddressable(rows))
        : rows.memory((long) width * bytes, groups, apart, isAddressable(rows));
  }

  /**
   * A parameter whose parts, one after the other, serve groups of each row, or samples of so many
   * rows each.
   *
   * @param values as float[] or double[]
   * @param there a copy of them in native memory; null without one
   * @param width elements of a part
   * @param parts the groups of a row, or the samples
   * @param rows of the call
   */
  static RowMemory ofParameter(
      Object values,
      @Nullable MemorySegment there,
      int width,
      int parts,
      long rows,
      boolean ofGroups) {
    ElementType type = values instanceof double[] ? ElementType.FLOAT64 : ElementType.FLOAT32;
    MemorySegment segment = there != null ? there : ColumnMemory.segment(values);
    long bytes = (long) width * type.bytes();
    long rowsOfSample = rows / parts;
    if (ofGroups) {
      return new RowMemory(segment, type, bytes, rows == 1 ? 0 : parts, 0, true);
    }
    return rowsOfSample == 1
        ? new RowMemory(segment, type, bytes, 0, 0, true)
        : new RowMemory(segment, type, 0, rowsOfSample, bytes, true);
  }

  /** Whether kernels may address the rows in place, or the rows are in an array of their type. */
  private boolean isAddressable(Rows rows) {
    MemorySegment segment = rows.segment();
    if (segment.isNative()) {
      return addresses && !rows.maybeMapped();
    }
    Object array = segment.heapBase().orElse(null);
    boolean fits =
        switch (rows.type()) {
          case FLOAT64 -> array instanceof double[];
          case FLOAT32 -> array instanceof float[];
          case FLOAT16, BFLOAT16 -> array instanceof short[];
        };
    return fits && segment.address() % rows.type().bytes() == 0;
  }

  /** Whether other threads than the caller's may access all rows; some may be null. */
  static boolean isOfAnyThread(@Nullable Rows... rows) {
    for (Rows one : rows) {
      if (one != null && !RowMemory.isOfAnyThread(one.segment())) {
        return false;
      }
    }
    return true;
  }

  /** Whether other threads than the caller's may access codes and scales. */
  static boolean isOfAnyThread(QuantizedRows q) {
    return RowMemory.isOfAnyThread(q.codes())
        && (q.scales() == null || RowMemory.isOfAnyThread(q.scales()));
  }

  /** Whether other threads than the caller's can work on all rows: copies check the owner. */
  static boolean isShared(RowMemory... rows) {
    for (RowMemory one : rows) {
      if (one != null && !one.isAddressable() && !one.isOfAnyThread()) {
        return false;
      }
    }
    return true;
  }
}
