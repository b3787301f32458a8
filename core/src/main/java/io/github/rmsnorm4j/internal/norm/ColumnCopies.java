package io.github.rmsnorm4j.internal.norm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.lang.foreign.MemorySegment;

/** Native memory for columns, where machine code reads them. One thread uses it at a time. */
final class ColumnCopies {
  /** Bytes of a column that is kept for other calls. */
  private static final long MAX_KEPT = 1 << 22;

  private final MemorySegment[] columns = new MemorySegment[Column.COUNT];

  /** A column of a width, with undefined content. */
  MemorySegment of(Column column, int width) {
    long bytes = (long) width * Float.BYTES;
    MemorySegment room = columns[column.ordinal()];
    if (room == null || room.byteSize() < bytes) {
      room = MachineFrame.memory(bytes);
      columns[column.ordinal()] = room;
    }
    return room;
  }

  /**
   * The address of the numbers of a gain or bias.
   *
   * @param kept the columns of the norm, or null for those of a call, which are copied
   */
  long address(Column column, float[] numbers, int width, MachineColumns kept) {
    return (kept == null ? copy(column, numbers, width) : kept.of(column, numbers)).address();
  }

  /** A copy of the first numbers of an array. */
  MemorySegment copy(Column column, float[] numbers, int width) {
    MemorySegment room = of(column, width);
    MemorySegment.copy(numbers, 0, room, JAVA_FLOAT, 0, width);
    return room;
  }

  /** Frees long columns. */
  void shrink() {
    for (int c = 0; c < columns.length; c++) {
      boolean keeps = columns[c] != null && columns[c].byteSize() <= MAX_KEPT;
      columns[c] = keeps ? columns[c] : null;
    }
  }
}
