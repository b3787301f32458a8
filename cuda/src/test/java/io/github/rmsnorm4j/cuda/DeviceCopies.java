package io.github.rmsnorm4j.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;

/** Test rows in the memory of a device, whose bytes come back with all that is around them. */
final class DeviceCopies implements AutoCloseable {
  private final CudaDevice device;
  private final Arena arena = Arena.ofConfined();
  private final Map<byte[], CudaMemory> copies = new IdentityHashMap<>();

  DeviceCopies(CudaDevice device) {
    this.device = device;
  }

  Arena arena() {
    return arena;
  }

  /** A copy of the rows; null for null. */
  CudaRows of(TestRows rows) {
    if (rows == null) {
      return null;
    }
    CudaMemory memory = bytes(rows.bytes());
    return CudaRows.of(
        memory.asSlice(rows.offset()), rows.type(), rows.rows(), rows.width(), rows.stride());
  }

  /** A copy of bytes, which is the same each time. */
  CudaMemory bytes(byte[] bytes) {
    return copies.computeIfAbsent(bytes, this::copy);
  }

  private CudaMemory copy(byte[] bytes) {
    CudaMemory memory = device.allocate(bytes.length, arena);
    memory.copyFrom(MemorySegment.ofArray(bytes));
    return memory;
  }

  /** Overwrites all bytes by the copies of them, after the work before. */
  void takeBack() {
    copies.forEach((bytes, memory) -> memory.copyTo(MemorySegment.ofArray(bytes)));
  }

  @Override
  public void close() {
    arena.close();
  }
}
