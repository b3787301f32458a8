package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Tensors, or numbers, in the memory of a GPU. One that was given back may still be at work: what
 * comes next on the stream comes after it.
 */
final class GpuTensors implements Pool<CudaMemory> {
  private final CudaDevice device;
  private final Arena arena;
  private final long bytes;
  private final Deque<CudaMemory> free = new ArrayDeque<>();
  private long taken;

  /** Of a size, which live as long as an arena. */
  GpuTensors(CudaDevice device, Arena arena, long bytes) {
    this.device = device;
    this.arena = arena;
    this.bytes = bytes;
  }

  @Override
  public CudaMemory take() {
    if (!free.isEmpty()) {
      return free.pop();
    }
    taken += bytes;
    return device.allocate(bytes, arena);
  }

  @Override
  public void giveBack(CudaMemory memory) {
    free.push(memory);
  }

  /** Bytes of all that were ever held at once. */
  long peakBytes() {
    return taken;
  }
}
