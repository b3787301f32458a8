package io.github.rmsnorm4j.internal.norm;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import io.github.rmsnorm4j.internal.lowering.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Columns of a pass in native memory, where machine code reads them; One thread uses them at a
 * time. Their owner closes them.
 */
final class ColumnCopies implements AutoCloseable {
  private final NativeMemory[] columns = new NativeMemory[Tensor.Access.COLUMN.places()];

  /**
   * Points a frame at a gain or bias.
   *
   * @param numbers float[] or double[], or null without such a column
   * @param ofNorm the columns of the norm; null for a gain and bias of the call
   * @return whether they are where they always are: in the columns of the norm
   */
  boolean set(MachineFrame frame, Tensor column, Object numbers, int width, MachineColumns ofNorm) {
    if (numbers == null) {
      return true;
    }
    MemorySegment kept = ofNorm == null ? null : ofNorm.of(column, numbers, width);
    frame.point(column, (kept == null ? copy(column, numbers, width) : kept).address());
    return kept != null;
  }

  /** A copy of the first numbers of an array. */
  MemorySegment copy(Tensor column, Object numbers, int width) {
    ValueLayout layout = layout(numbers);
    MemorySegment room = of(column, width * layout.byteSize());
    MemorySegment.copy(numbers, 0, room, layout, 0, width);
    return room;
  }

  /** Copies numbers back to the array. */
  void copyBack(Tensor column, Object numbers, int width) {
    MemorySegment room = columns[column.place()].segment();
    MemorySegment.copy(room, layout(numbers), 0, numbers, 0, width);
  }

  /** The elements of a column's array. */
  static ValueLayout layout(Object numbers) {
    return numbers instanceof double[] ? JAVA_DOUBLE : JAVA_FLOAT;
  }

  private MemorySegment of(Tensor column, long bytes) {
    NativeMemory room = columns[column.place()];
    if (room == null || room.segment().byteSize() < bytes) {
      close(column.place());
      room = ColumnMemory.take(bytes);
      columns[column.place()] = room;
    }
    return room.segment();
  }

  private void close(int place) {
    NativeMemory room = columns[place];
    columns[place] = null;
    if (room != null) {
      ColumnMemory.giveBack(room);
    }
  }

  @Override
  public void close() {
    for (int place = 0; place < columns.length; place++) {
      close(place);
    }
  }
}
