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
 * Native memory of one thread beside its frame: copies of columns, which machine code reads or adds
 * to, and rows that one stage of a kernel stores and later ones read. Its owner closes it.
 */
final class ThreadMemory implements AutoCloseable {
  /** The tensors that are sums over rows. */
  static final Tensor[] SUMS = {Backward.GAIN_GRADIENT, Backward.BIAS_GRADIENT};

  /** What is longer is given back after each call. */
  private static final long MAX_KEPT = Double.BYTES << 16;

  /** Bytes of the passed rows that have places of their own. */
  private static final int PASSED = 1 << 14;

  /** The place behind those of columns. */
  private static final int ROWS = Tensor.Access.COLUMN.places();

  /** By place of a column, and then passed rows. */
  private final NativeMemory[] rooms = new NativeMemory[ROWS + 1];

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

  /**
   * Points a frame at passed rows. A row stays in the first-level cache: the next row takes its
   * place, or a few rows that go through the stages together have places of their own.
   *
   * @param rowBytes the length of a row
   * @param together rows that go through the stages of the kernel together, at most
   * @return how many rows one call of the kernel may have
   */
  int pass(MachineFrame frame, Tensor rows, long rowBytes, int together) {
    int places = together == 1 ? 1 : Math.max(together, (int) (PASSED / rowBytes));
    long address = room(ROWS, places * rowBytes).address();
    frame.place(rows, null, address, places == 1 ? 0 : rowBytes);
    frame.jump(rows, 0);
    return places == 1 ? MachineFrame.MAX_ROWS : places;
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
        MemorySegment room = rooms[sum.place()].segment();
        MemorySegment.copy(room, ColumnMemory.layout(array), 0, array, 0, width);
      }
    }
  }

  private MemorySegment room(int place, long bytes) {
    if (rooms[place] == null || rooms[place].segment().byteSize() < bytes) {
      close(place);
      rooms[place] = ColumnMemory.take(bytes);
    }
    return rooms[place].segment();
  }

  /** Gives long memory back. */
  void shrink() {
    for (int place = 0; place < rooms.length; place++) {
      if (rooms[place] != null && rooms[place].segment().byteSize() > MAX_KEPT) {
        close(place);
      }
    }
  }

  private void close(int place) {
    NativeMemory room = rooms[place];
    rooms[place] = null;
    if (room != null) {
      ColumnMemory.giveBack(room);
    }
  }

  @Override
  public void close() {
    for (int place = 0; place < rooms.length; place++) {
      close(place);
    }
  }
}
