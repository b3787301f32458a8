package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import io.github.rmsnorm4j.internal.lowering.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where machine code finds gain and bias of a call whose rows it does in pieces, for all threads of
 * the call. Columns that the norm does not have in native memory are copied until the call closes
 * them. Their memory is kept for other calls, up to a limit.
 */
final class LongColumns implements AutoCloseable {
  private final long[] addresses = new long[Tensor.Access.COLUMN.places()];
  private long elementBytes;
  private final NativeMemory[] copies = new NativeMemory[Tensor.Access.COLUMN.places()];

  /**
   * The columns of a call; they are open until it is done on all threads.
   *
   * @param ofNorm copies of gain and bias if they are those of the norm; or null
   * @param gain float[] or double[] as the arithmetic is, or null
   * @param bias likewise
   */
  LongColumns(MachineColumns ofNorm, Object gain, Object bias, int width) {
    boolean done = false;
    try {
      open(ofNorm, Forward.GAIN, gain, width);
      open(ofNorm, Forward.BIAS, bias, width);
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private void open(MachineColumns ofNorm, Tensor column, Object numbers, int width) {
    if (numbers == null) {
      return;
    }
    int i = column.place();
    ValueLayout layout = ColumnCopies.layout(numbers);
    elementBytes = layout.byteSize();
    MemorySegment there = ofNorm == null ? null : ofNorm.of(column, numbers, width);
    if (there == null) {
      copies[i] = ColumnMemory.take(width * layout.byteSize());
      there = copies[i].segment();
      MemorySegment.copy(numbers, 0, there, layout, 0, width);
    }
    addresses[i] = there.address();
  }

  /** Points a frame at the columns from one on. */
  void place(MachineFrame frame, long from) {
    frame.point(Forward.GAIN, addresses[Forward.GAIN.place()] + from * elementBytes);
    frame.point(Forward.BIAS, addresses[Forward.BIAS.place()] + from * elementBytes);
  }

  @Override
  public void close() {
    for (NativeMemory copy : copies) {
      if (copy != null) {
        ColumnMemory.giveBack(copy);
      }
    }
  }
}
