package io.github.rmsnorm4j.internal.codec;

/**
 * Arrays of float16 to float32, exactly, and back, by one rounding to nearest, ties to even. The
 * JIT turns these loops into the machine's conversions; the Vector API of JDK 25 has none.
 */
public final class Float16Arrays {
  private Float16Arrays() {}

  /** Decodes the first n patterns. */
  public static void decode(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  /** Encodes the first n values, among which every NaN must be the canonical one. */
  public static void encode(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
  }
}
