package io.github.rmsnorm4j.internal.norm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The gain and bias of a norm in native memory, copied once, because they never change. */
final class MachineColumns {
  /** A key for these columns. A reference to the key does not keep their memory. */
  final Object key = new Object();

  private final AtomicReferenceArray<MemorySegment> copies =
      new AtomicReferenceArray<>(Column.COUNT);

  MemorySegment of(Column column, float[] numbers) {
    MemorySegment copy = copies.get(column.ordinal());
    if (copy == null) {
      copy = MachineFrame.memory((long) numbers.length * Float.BYTES);
      MemorySegment.copy(numbers, 0, copy, JAVA_FLOAT, 0, numbers.length);
      // All threads must use the copy that is kept, because another one could be freed meanwhile.
      if (!copies.compareAndSet(column.ordinal(), null, copy)) {
        copy = copies.get(column.ordinal());
      }
    }
    return copy;
  }
}
