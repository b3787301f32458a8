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

  /**
   * Encodes the first n values; every NaN becomes the canonical one.
   *
   * @param vectors whether the Vector API may be used
   */
  public static void encode(float[] from, short[] into, int n, boolean vectors) {
    for (int i = 0; i < n; i++) {
      into[i] = Float.floatToFloat16(from[i]);
    }
    // Looking for the largest is quicker than choosing for each.
    int largest = vectors ? VectorNan.largest(into, n) : largest(into, n);
    if (largest > Narrow.FLOAT16_INFINITY) {
      for (int i = 0; i < n; i++) {
        into[i] = Narrow.floatToFloat16(from[i]);
      }
    }
  }

  private static int largest(short[] patterns, int n) {
    int largest = 0;
    for (int i = 0; i < n; i++) {
      largest = Math.max(largest, patterns[i] & 0x7fff);
    }
    return largest;
  }
}
