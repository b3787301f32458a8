package io.github.rmsnorm4j.cuda.driver;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The values of a kernel's parameters, in the order of its {@code .param} declarations. Each is
 * aligned to its size, as PTX lays parameters out. Not for more than one thread at a time.
 */
public final class Parameters {
  /** What every version of PTX allows. */
  private static final int MAX_BYTES = 4096;

  private ByteBuffer values = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());

  /** Adds an address or an integer of 64 bits: {@code .u64}, {@code .s64} or {@code .b64}. */
  public Parameters int64(long value) {
    align(Long.BYTES).putLong(value);
    return this;
  }

  /** Adds an integer of 32 bits: {@code .u32}, {@code .s32} or {@code .b32}. */
  public Parameters int32(int value) {
    align(Integer.BYTES).putInt(value);
    return this;
  }

  /** Adds a {@code .f64}. */
  public Parameters float64(double value) {
    align(Double.BYTES).putDouble(value);
    return this;
  }

  /** Adds a {@code .f32}. */
  public Parameters float32(float value) {
    align(Float.BYTES).putFloat(value);
    return this;
  }

  private ByteBuffer align(int bytes) {
    int at = (values.position() + bytes - 1) / bytes * bytes;
    if (at + bytes > MAX_BYTES) {
      throw new IllegalStateException(
          "parameters have more than the " + MAX_BYTES + " bytes that PTX allows");
    }
    if (at + bytes > values.capacity()) {
      values = ByteBuffer.allocate(MAX_BYTES).order(ByteOrder.nativeOrder()).put(values.flip());
    }
    return values.position(at);
  }

  int bytes() {
    return values.position();
  }

  byte[] array() {
    return values.array();
  }
}
