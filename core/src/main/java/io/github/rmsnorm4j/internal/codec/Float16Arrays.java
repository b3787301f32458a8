package io.github.rmsnorm4j.internal.codec;

/**
 * Arrays of float16 to float32, exactly, and back, by one rounding to nearest, ties to even. The JIT
 * turns these loops into the machine's conversions; the Vector API of JDK 25 has none.
 */
public final class Float16Arrays {
  private Float16Arrays() {}

  /** Decodes the first n patterns. */
  public static void decode(short[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.float16ToFloat(from[i]);
    }
  }

  /** Encodes the first n values; every NaN becomes the canonical one. */
  public static void encode(float[] from, short[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
    if (hasNan(into, n)) {
      for (int i = 0; i < n; i++) {
        into[i] = Narrow.floatToFloat16(from[i]);
      }
    }
  }

  /** Looking for the largest is quicker than choosing for each. */
  private static boolean hasNan(short[] patterns, int n) {
    int largest = 0;
    for (int i = 0; i < n; i++) {
      largest = Math.max(largest, patterns[i] & 0x7fff);
    }
    return largest > 0x7c00;
  }
}
