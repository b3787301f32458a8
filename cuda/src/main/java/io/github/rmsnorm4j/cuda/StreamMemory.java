package io.github.rmsnorm4j.cuda;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;

/**
 * Memory of a device for results between two kernels of a call: one for each stream, because calls
 * on one stream are done one after the other. It lives as long as an arena.
 */
final class StreamMemory {
  private final CudaDevice device;
  private final Arena arena;
  private final Map<Long, CudaMemory> byStream = new HashMap<>();

  StreamMemory(CudaDevice device, Arena arena) {
    this.device = device;
    this.arena = arena;
  }

  /** At least so many bytes. What was too small stays until the arena is closed, so it doubles. */
  synchronized CudaMemory atLeast(long bytes, CudaStream stream) {
    CudaMemory memory = byStream.get(stream.handle());
    if (memory == null || memory.byteSize() < bytes) {
      long doubled = memory == null ? 0 : 2 * memory.byteSize();
      memory = device.allocate(Math.max(bytes, doubled), arena);
      byStream.put(stream.handle(), memory);
    }
    return memory;
  }
}
