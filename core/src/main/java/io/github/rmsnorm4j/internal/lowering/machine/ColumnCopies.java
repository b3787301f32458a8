package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies of columns in native memory, where machine code reads them or adds to them. One thread
 * uses them at a time. Their owner closes them.
 */
final class ColumnCopies implements AutoCloseable {
  /** The tensors that are sums over rows. */
  static final Tensor[] SUMS = {Backward.GAIN_GRADIENT, Backward.BIAS_GRADIENT};

  /** Longer copies are given back after each call. */
  private static final long MAX_KEPT = Double.BYTES << 16;

  private final NativeMemory[] copies = new NativeMemory[Tensor.Access.COLUMN.places()];

  /** Makes room for the sums of a call, before it begins. */
  void reserve(Call call) {
    if (call.formula() instanceof BackwardFormula formula) {
      long bytes = (long) call.choices().width() * (call.float64() ? Double.BYTES : Float.BYTES);
      if (formula.gainGradient()) {
        room(Backward.GAIN_GRADIENT.place(), bytes);
      }
      if (formula.biasGradient()) {
        room(Backward.BIAS_GRADIENT.place(), bytes);
      }
    }
  }

  /** A copy of the first numbers of an array. */
  MemorySegment copy(Tensor column, Object numbers, int width) {
    ValueLayout layout = ColumnMemory.layout(numbers);
    MemorySegment room = room(column.place(), width * layout.byteSize());
    MemorySegment.copy(numbers, 0, room, layout, 0, width);
    return room;
  }

  /**
   * Copies sums to where they are added to.
   *
   * @param sums by place; null without sums
   * @param addresses by place: takes where they are
   */
  void take(Object[] sums, int width, long[] addresses) {
    for (Tensor sum : SUMS) {
      if (sums != null && sums[sum.place()] != null) {
        addresses[sum.place()] = copy(sum, sums[sum.place()], width).address();
      }
    }
  }

  /** Copies sums back to their arrays. */
  void giveBack(Object[] sums, int width) {
    for (Tensor sum : SUMS) {
      Object array = sums == null ? null : sums[sum.place()];
      if (array != null) {
        MemorySegment room = copies[sum.place()].segment();
        MemorySegment.copy(room, ColumnMemory.layout(array), 0, array, 0, width);
      }
    }
  }

  private MemorySegment room(int place, long bytes) {
    if (copies[place] == null || copies[place].segment().byteSize() < bytes) {
      close(place);
      copies[place] = ColumnMemory.take(bytes);
    }
    return copies[place].segment();
  }

  /** Gives long copies back. */
  void shrink() {
    for (int place = 0; place < copies.length; place++) {
      if (copies[place] != null && copies[place].segment().byteSize() > MAX_KEPT) {
        close(place);
      }
    }
  }

  private void close(int place) {
    NativeMemory copy = copies[place];
    copies[place] = null;
    if (copy != null) {
      ColumnMemory.giveBack(copy);
    }
  }

  @Override
  public void close() {
    for (int place = 0; place < copies.length; place++) {
      close(place);
    }
  }
}
