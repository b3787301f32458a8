package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.device.NormParts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The gain and bias of a norm in the memory of a device, in the types of both arithmetics. */
final class DeviceParameters {
  /** Numbers begin at its multiples, as memory of a device does. */
  private static final long ALIGNMENT = 256;

  private final NormParts parts;
  private final CudaMemory memory;

  /** Allocates the memory and copies them there. */
  DeviceParameters(CudaDevice device, NormParts parts, Arena arena) {
    this.parts = parts;
    memory = device.allocate(bytes(parts.gain()) + bytes(parts.bias()), arena);
    copy(parts.gain(), 0);
    copy(parts.bias(), bytes(parts.gain()));
  }

  private static long bytes(NormParts.Column column) {
    return column == null ? 0 : bytes(column, Double.BYTES) + bytes(column, Float.BYTES);
  }

  private static long bytes(NormParts.Column column, int ofNumber) {
    return Math.ceilDiv((long) column.doubles().length * ofNumber, ALIGNMENT) * ALIGNMENT;
  }

  /** The float64 numbers, and behind them the float32 numbers. */
  private void copy(NormParts.Column column, long offset) {
    if (column != null) {
      memory.asSlice(offset).copyFrom(MemorySegment.ofArray(column.doubles()));
      memory
          .asSlice(offset + bytes(column, Double.BYTES))
          .copyFrom(MemorySegment.ofArray(column.floats()));
    }
  }

  /** Refuses to be used when the arena is closed, or by a thread that may not. */
  void requireAccess(CudaNorm norm) {
    memory.requireAccess(() -> "the memory of " + norm);
  }

  /** The gain for rows of a type; null without one. */
  DeviceColumn gain(ElementType rows) {
    return column(parts.gain(), rows, 0);
  }

  /** The bias for rows of a type; null without one. */
  DeviceColumn bias(ElementType rows) {
    return column(parts.bias(), rows, bytes(parts.gain()));
  }

  private DeviceColumn column(NormParts.Column column, ElementType rows, long offset) {
    if (column == null) {
      return null;
    }
    long before = rows == ElementType.FLOAT64 ? 0 : bytes(column, Double.BYTES);
    return new DeviceColumn(
        memory.address() + offset + before, column.type(), column.doubles().length);
  }
}
