package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies of the sums for gain and bias in native memory, where machine code adds to them. One
 * thread uses them at a time. Their owner closes them.
 */
final class ColumnSums implements AutoCloseable {
  /** The tensors that are sums. */
  static final Tensor[] TENSORS = {Backward.GAIN_GRADIENT, Backward.BIAS_GRADIENT};

  /** Copies that are longer are given back after each call. */
  private static final int MAX_KEPT = 1 << 16;

  private final NativeMemory[] copies = new NativeMemory[TENSORS.length];

  /**
   * Copies sums.
   *
   * @param sums by place; null without such sums
   * @return the address of the copy, 0 without
   */
  long copy(int k, Object[] sums, int width) {
    Object array = array(k, sums);
    if (array == null) {
      return 0;
    }
    ValueLayout layout = ColumnMemory.layout(array);
    MemorySegment room = room(k, width * layout.byteSize());
    MemorySegment.copy(array, 0, room, layout, 0, width);
    return room.address();
  }

  /** Copies sums back to their arrays. */
  void copyBack(Object[] sums, int width) {
    for (int k = 0; k < TENSORS.length; k++) {
      Object array = array(k, sums);
      if (array != null) {
        MemorySegment room = copies[k].segment();
        MemorySegment.copy(room, ColumnMemory.layout(array), 0, array, 0, width);
      }
    }
  }

  private static Object array(int k, Object[] sums) {
    return sums == null ? null : sums[TENSORS[k].place()];
  }

  private MemorySegment room(int k, long bytes) {
    if (copies[k] == null || copies[k].segment().byteSize() < bytes) {
      close(k);
      copies[k] = ColumnMemory.take(bytes);
    }
    return copies[k].segment();
  }

  /** Gives the memory of long rows back. */
  void shrink() {
    for (int k = 0; k < copies.length; k++) {
      if (copies[k] != null && copies[k].segment().byteSize() > MAX_KEPT * (long) Double.BYTES) {
        close(k);
      }
    }
  }

  private void close(int k) {
    NativeMemory copy = copies[k];
    copies[k] = null;
    if (copy != null) {
      ColumnMemory.giveBack(copy);
    }
  }

  @Override
  public void close() {
    for (int k = 0; k < copies.length; k++) {
      close(k);
    }
  }
}
