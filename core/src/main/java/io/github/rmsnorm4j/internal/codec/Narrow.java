package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;

/** Converts single values between the types, each by one rounding to nearest, ties to even. */
public final class Narrow {
  /** The one NaN that float16 results carry. */
  static final short FLOAT16_NAN = 0x7e00;

  /** The one NaN that bfloat16 results carry. */
  static final short BFLOAT16_NAN = 0x7fc0;

  private Narrow() {}

  /** Exactly. */
  public static float bfloat16ToFloat(short pattern) {
    return Float.intBitsToFloat(pattern << 16);
  }

  /** Like {@link Float#floatToFloat16}, with the canonical NaN. */
  public static short floatToFloat16(float value) {
    return value != value ? FLOAT16_NAN : Float.floatToFloat16(value);
  }

  /** The upper half of the pattern, rounded. A NaN is not: it could become infinity or -0. */
  public static short floatToBfloat16(float value) {
    if (value != value) {
      return BFLOAT16_NAN;
    }
    int bits = Float.floatToRawIntBits(value);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  /** Exactly. */
  public static float toFloat(short pattern, ElementType type) {
    return type == ElementType.FLOAT16 ? Float.float16ToFloat(pattern) : bfloat16ToFloat(pattern);
  }

  /** A float32 rounded once to a type of 16 bits. */
  public static short toPattern(float value, ElementType type) {
    return type == ElementType.FLOAT16 ? floatToFloat16(value) : floatToBfloat16(value);
  }

  /**
   * Rounds a float64 to float32 so that a second rounding, to a 16-bit type, gives what one
   * rounding of the float64 would. It rounds to odd, so the last bit shows whether digits were cut
   * off.
   */
  public static float roundToOdd(double value) {
    float nearest = (float) value;
    if (value != value) {
      return Float.NaN;
    }
    if (nearest == value) {
      return nearest;
    }
    int bits = Float.floatToRawIntBits(nearest);
    boolean away = Math.abs((double) nearest) > Math.abs(value);
    return Float.intBitsToFloat((away ? bits - 1 : bits) | 1);
  }

  /** The value, except that every NaN becomes the canonical one. */
  public static float oneNan(float value) {
    return value != value ? Float.NaN : value;
  }

  /** A float32 rounded once to a type of 16 bits, as a float32 again. */
  public static float round(float value, ElementType type) {
    return toFloat(toPattern(value, type), type);
  }

  /** A float64 rounded once to a type, as a float64 again. */
  public static double round(double value, ElementType type) {
    return switch (type) {
      case FLOAT64 -> value;
      case FLOAT32 -> (float) value;
      case FLOAT16, BFLOAT16 -> round(roundToOdd(value), type);
    };
  }
}
