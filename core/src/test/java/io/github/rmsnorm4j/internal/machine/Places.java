package io.github.rmsnorm4j.internal.machine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Instructions that put parts of two vectors in other places. */
final class Places {
  private static final int QUARTER = 16;

  private final ByteBuffer a;
  private final ByteBuffer b;
  private final int number;
  private final ByteBuffer result;

  private Places(ByteBuffer a, ByteBuffer b, int number, int size) {
    this.a = a;
    this.b = b;
    this.number = number;
    result = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * The result.
   *
   * @param number that the instruction has; 0 without one
   * @param size of the result, in bytes
   */
  static ByteBuffer of(VectorOp op, ByteBuffer a, ByteBuffer b, int number, int size) {
    Places places = new Places(a, b, number, size);
    switch (op) {
      case VPERM2F128 -> places.twoQuarters();
      case VSHUFF64X2 -> places.quarters();
      case VUNPCKLPS -> places.unpackFloats(0);
      case VUNPCKHPS -> places.unpackFloats(Long.BYTES);
      case VUNPCKLPD -> places.unpack(0);
      case VUNPCKHPD -> places.unpack(1);
      default -> throw new AssertionError(op + " is not interpreted");
    }
    return places.result;
  }

  /** 128 bits each, from either of both, or zeros. */
  private void twoQuarters() {
    for (int q = 0; q < 2; q++) {
      int chosen = number >> 4 * q;
      if ((chosen & 8) == 0) {
        result.put(QUARTER * q, (chosen & 2) == 0 ? a : b, QUARTER * (chosen & 1), QUARTER);
      }
    }
  }

  /** 128 bits each: lower ones of the result from the first, upper ones from the second. */
  private void quarters() {
    int quarters = result.capacity() / QUARTER;
    int bits = quarters / 2;
    for (int q = 0; q < quarters; q++) {
      int chosen = number >> bits * q & quarters - 1;
      result.put(QUARTER * q, q < quarters / 2 ? a : b, QUARTER * chosen, QUARTER);
    }
  }

  /** In each 128 bits two floats of each, from a byte on. */
  private void unpackFloats(int from) {
    for (int at = 0; at < result.capacity(); at += Long.BYTES) {
      int source = (at & -QUARTER) + from + at % QUARTER / 2;
      result.putInt(at, a.getInt(source)).putInt(at + Float.BYTES, b.getInt(source));
    }
  }

  private void unpack(int upper) {
    for (int i = 0; i < result.capacity() / Long.BYTES; i++) {
      ByteBuffer from = (i & 1) == 0 ? a : b;
      result.putLong(Long.BYTES * i, from.getLong(Long.BYTES * ((i & -2) + upper)));
    }
  }
}
