package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;

/**
 * Converts arrays of 16-bit types to float32, exactly, and back, by one rounding to nearest, ties
 * to even. The JIT compiles the loops for float16 to the machine's conversions, which the Vector
 * API of JDK 25 does not offer.
 */
public final class NarrowArrays {
  private NarrowArrays() {}

  /** Decodes the first n patterns. */
  public static void decode(ElementType type, short[] from, float[] into, int n) {
    if (type == ElementType.FLOAT16) {
      decodeFloat16(from, into, n);
    } else {
      for (int i = 0; i < n; i++) {
        into[i] = Narrow.bfloat16ToFloat(from[i]);
      }
    }
  }

  private static void decodeFloat16(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  /** Encodes the first n values. For float16 every NaN must be the canonical one. */
  public static void encode(ElementType type, float[] from, short[] into, int n) {
    if (type == ElementType.FLOAT16) {
      encodeFloat16(from, into, n);
    } else {
      for (int i = 0; i < n; i++) {
        into[i] = Narrow.floatToBfloat16(from[i]);
      }
    }
  }

  private static void encodeFloat16(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
  }
}
