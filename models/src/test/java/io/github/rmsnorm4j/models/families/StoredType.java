package io.github.rmsnorm4j.models.families;

import java.nio.ByteBuffer;

/**
 * The types of elements in a safetensors file that these models use. They are rounded and converted
 * here apart from the library, whose rounding they judge.
 */
enum StoredType {
  F64(8),
  F32(4),
  BF16(2),
  F16(2),
  U8(1);

  final int bytes;

  StoredType(int bytes) {
    this.bytes = bytes;
  }

  /** The number of this type that is nearest, ties to even. Infinities do not occur here. */
  double round(double value) {
    return switch (this) {
      case F64 -> value;
      case F32 -> (float) value;
      case BF16 -> round(value, 7, -126);
      case F16 -> round(value, 10, -14);
      case U8 -> Math.rint(value);
    };
  }

  private static double round(double value, int fractionBits, int leastExponent) {
    int exponent = Math.max(Math.getExponent(value), leastExponent);
    double last = Math.scalb(1.0, exponent - fractionBits);
    return Math.rint(value / last) * last;
  }

  void put(ByteBuffer into, double value) {
    switch (this) {
      case F64 -> into.putDouble(value);
      case F32 -> into.putFloat((float) value);
      case BF16 -> into.putShort((short) (Float.floatToRawIntBits((float) value) >>> 16));
      case F16 -> into.putShort(Float.floatToFloat16((float) value));
      case U8 -> into.put((byte) value);
    }
  }

  double get(ByteBuffer from) {
    return switch (this) {
      case F64 -> from.getDouble();
      case F32 -> from.getFloat();
      case BF16 -> Float.intBitsToFloat(from.getShort() << 16);
      case F16 -> Float.float16ToFloat(from.getShort());
      case U8 -> from.get() & 0xFF;
    };
  }
}
