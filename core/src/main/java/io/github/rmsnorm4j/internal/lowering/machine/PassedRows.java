package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.NativeMemory;

/**
 * Rows that one stage of a kernel stores and later ones read, in memory of the thread. A row stays
 * in the first-level cache meanwhile: the next row takes its place, or a few rows that go through
 * the stages together have places of their own.
 */
final class PassedRows implements AutoCloseable {
  /** Bytes of the rows that have places of their own. */
  private static final int BYTES = 1 << 14;

  private NativeMemory memory;

  /**
   * Points a frame at the memory.
   *
   * @param rowBytes the length of a row
   * @param together rows that go through the stages of the kernel together, at most
   * @return how many rows one call of the kernel may have
   */
  int place(MachineFrame frame, Tensor rows, long rowBytes, int together) {
    int places = together == 1 ? 1 : Math.max(together, (int) (BYTES / rowBytes));
    long bytes = places * rowBytes;
    if (memory == null || memory.segment().byteSize() < bytes) {
      close();
      memory = ColumnMemory.take(bytes);
    }
    frame.place(rows, null, memory.segment().address(), places == 1 ? 0 : rowBytes);
    frame.jump(rows, 0);
    return places == 1 ? MachineFrame.MAX_ROWS : places;
  }

  @Override
  public void close() {
    if (memory != null) {
      ColumnMemory.giveBack(memory);
      memory = null;
    }
  }
}
