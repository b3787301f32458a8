package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.device.CallParameters;
import io.github.rmsnorm4j.internal.device.NormParts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The gain and bias that the calls of a norm on a device read: those of the norm, in the types of
 * both arithmetics, or those that are given instead.
 */
final class DeviceParameters {
  /** Numbers begin at its multiples, as memory of a device does. */
  private static final long ALIGNMENT = 256;

  private final NormParts parts;

  /** The norm's own. */
  private final CudaMemory memory;

  /** Null for the norm's own. */
  private final CudaRows gain;

  private final CudaRows bias;

  private DeviceParameters(NormParts parts, CudaMemory memory, CudaRows gain, CudaRows bias) {
    this.parts = parts;
    this.memory = memory;
    this.gain = gain;
    this.bias = bias;
  }

  /** Those of the norm, copied to new memory. */
  static DeviceParameters of(CudaDevice device, NormParts parts, Arena arena) {
    CudaMemory memory = device.allocate(bytes(parts.gain()) + bytes(parts.bias()), arena);
    copy(memory, parts.gain(), 0);
    copy(memory, parts.bias(), bytes(parts.gain()));
    return new DeviceParameters(parts, memory, null, null);
  }

  /** The same with another gain or bias; null for what there is. */
  DeviceParameters with(CudaRows gain, CudaRows bias) {
    return new DeviceParameters(
        parts, memory, gain == null ? this.gain : gain, bias == null ? this.bias : bias);
  }

  /** What is given instead of the norm's own. */
  CallParameters forChecks() {
    return new CallParameters(
        gain == null ? null : gain.forChecks(), bias == null ? null : bias.forChecks());
  }

  /** Adds what is given to the rows of a call, which must not overwrite it. */
  void addTo(CallRows rows) {
    rows.withParameter("gain", gain).withParameter("bias", bias);
  }

  /** How many samples have a gain or a bias of their own. */
  long samples() {
    CudaRows one = gain == null ? bias : gain;
    return one == null ? 1 : one.rows();
  }

  private static long bytes(NormParts.Column column) {
    return column == null ? 0 : bytes(column, Double.BYTES) + bytes(column, Float.BYTES);
  }

  private static long bytes(NormParts.Column column, int ofNumber) {
    return Math.ceilDiv((long) column.doubles().length * ofNumber, ALIGNMENT) * ALIGNMENT;
  }

  /** The float64 numbers, and behind them the float32 numbers. */
  private static void copy(CudaMemory memory, NormParts.Column column, long offset) {
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
    double offset = parts.choices(rows).spec().gainOffset();
    return gain == null ? own(parts.gain(), rows, 0) : given(gain, rows, offset);
  }

  /** The bias for rows of a type; null without one. */
  DeviceColumn bias(ElementType rows) {
    return bias == null ? own(parts.bias(), rows, bytes(parts.gain())) : given(bias, rows, 0);
  }

  private DeviceColumn own(NormParts.Column column, ElementType rows, long offset) {
    if (column == null) {
      return null;
    }
    long before = rows == ElementType.FLOAT64 ? 0 : bytes(column, Double.BYTES);
    return DeviceColumn.of(
        memory.address() + offset + before,
        column.type(),
        NormKernels.arithmetic(rows),
        column.doubles().length,
        parts.choices(rows).width());
  }

  private DeviceColumn given(CudaRows column, ElementType rows, double offset) {
    return DeviceColumn.of(column, parts.choices(rows).width(), offset);
  }

  /** For example {@code , with gain 1 x 4096 bfloat16}; nothing if all is the norm's own. */
  @Override
  public String toString() {
    return text(", with gain ", gain) + text(gain == null ? ", with bias " : " and bias ", bias);
  }

  private static String text(String name, CudaRows given) {
    return given == null ? "" : name + given;
  }
}
