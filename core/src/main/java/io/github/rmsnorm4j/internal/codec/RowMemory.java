package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.foreign.MemorySegment;

/**
 * Rows of one operand of a call, checked by the API.
 *
 * @param segment holds every row, from its first byte on
 * @param stride bytes from one row to the next
 * @param direct whether kernels address the rows where they are; otherwise they are copied through
 *     a workspace, piece by piece, by calls that check every access
 */
public record RowMemory(MemorySegment segment, ElementType type, long stride, boolean direct) {
  /** The array that a kernel addresses, null for native memory. */
  public Object base() {
    return segment.isNative() ? null : segment.heapBase().orElseThrow();
  }

  /** Where kernels find the memory: in native memory, or as an array of the arithmetic's type. */
  public Memory memory() {
    return direct && segment.isNative() ? Memory.NATIVE : Memory.HEAP;
  }
}
