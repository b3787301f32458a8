package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Norm;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;

/** Test rows in the memory of a device, whose bytes come back with all that is around them. */
final class DeviceCopies implements AutoCloseable {
  private final CudaDevice device;
  private final Arena arena = Arena.ofConfined();
  private final Map<TestRows, CudaMemory> copies = new IdentityHashMap<>();

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
    CudaMemory memory = copies.computeIfAbsent(rows, this::copy);
    return CudaRows.of(
        memory.asSlice(rows.offset()), rows.type(), rows.rows(), rows.width(), rows.stride());
  }

  /** A norm with the parameters that are of the call; the others are the norm's own. */
  CudaNorm of(Norm norm, TestParameter gain, TestParameter bias) {
    CudaNorm there = device.norm(norm, arena);
    CudaRows g = TestParameter.ofCall(gain) == null ? null : of(gain.rows());
    CudaRows b = TestParameter.ofCall(bias) == null ? null : of(bias.rows());
    return g == null && b == null ? there : there.withParameters(g, b);
  }

  CudaMemory allocate(long bytes) {
    return device.allocate(bytes, arena);
  }

  private CudaMemory copy(TestRows rows) {
    CudaMemory memory = device.allocate(rows.bytes().length, arena);
    memory.copyFrom(MemorySegment.ofArray(rows.bytes()));
    return memory;
  }

  /** Overwrites all rows by the copies of them, after the work before. */
  void takeBack() {
    copies.forEach((rows, memory) -> memory.copyTo(MemorySegment.ofArray(rows.bytes())));
  }

  @Override
  public void close() {
    arena.close();
  }
}
