package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaRows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;

/** Rows copied to a device with their guards, which come back after a call. */
final class DeviceRows implements AutoCloseable {
  private final CudaDevice device;
  private final Arena arena = Arena.ofConfined();
  private final Map<GuardedRows, CudaMemory> copies = new IdentityHashMap<>();

  DeviceRows(CudaDevice device) {
    this.device = device;
  }

  Arena arena() {
    return arena;
  }

  /** A copy of the rows; null for null. */
  CudaRows rows(GuardedRows rows) {
    return rows == null
        ? null
        : CudaRows.of(
            memory(rows).asSlice(rows.offset()),
            rows.type(),
            rows.rows(),
            rows.width(),
            rows.stride());
  }

  /** A copy of all bytes of the rows; null for null. */
  CudaMemory memory(GuardedRows rows) {
    return rows == null ? null : copies.computeIfAbsent(rows, this::copy);
  }

  private CudaMemory copy(GuardedRows rows) {
    CudaMemory memory = device.allocate(rows.bytes().length, arena);
    memory.copyFrom(MemorySegment.ofArray(rows.bytes()));
    return memory;
  }

  /** Overwrites all rows by their copies. */
  void takeBack() {
    copies.forEach((rows, memory) -> memory.copyTo(MemorySegment.ofArray(rows.bytes())));
  }

  @Override
  public void close() {
    arena.close();
  }
}
