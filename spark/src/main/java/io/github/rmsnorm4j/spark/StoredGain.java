package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;

/** A gain as a model stores it: numbers of a type, of which each is exact as a double. */
final class StoredGain {
  private StoredGain() {}

  /**
   * One row of a type.
   *
   * @throws IllegalArgumentException if the type lacks one of the numbers
   */
  static Rows of(double[] gain, ElementType type) {
    return switch (type) {
      case FLOAT64 -> Rows.of(gain, gain.length);
      case FLOAT32 -> {
        float[] floats = new float[gain.length];
        for (int i = 0; i < floats.length; i++) {
          floats[i] = (float) gain[i];
          requireSame(floats[i], gain, i, type);
        }
        yield Rows.of(floats, floats.length);
      }
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = new short[gain.length];
        for (int i = 0; i < patterns.length; i++) {
          patterns[i] = pattern((float) gain[i], type);
          requireSame(value(patterns[i], type), gain, i, type);
        }
        yield Rows.of(patterns, type, patterns.length);
      }
    };
  }

  private static void requireSame(float value, double[] gain, int i, ElementType type) {
    if (Double.compare(value, gain[i]) != 0) {
      throw new IllegalArgumentException(
          "gain[%s] is %s, no number of gainType %s".formatted(i, gain[i], type));
    }
  }

  /** Of a number that the type has; what becomes of others does not matter. */
  private static short pattern(float value, ElementType type) {
    return type == ElementType.FLOAT16
        ? Float.floatToFloat16(value)
        : (short) (Float.floatToIntBits(value) >>> 16);
  }

  private static float value(short pattern, ElementType type) {
    return type == ElementType.FLOAT16
        ? Float.float16ToFloat(pattern)
        : Float.intBitsToFloat(pattern << 16);
  }
}
