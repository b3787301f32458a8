package io.github.rmsnorm4j.checkpoint.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.reference.Casts;

/** Rounds numbers to types, and measures in their last places. */
final class Rounding {
  private Rounding() {}

  /** Rounds once, to nearest, ties to even. */
  static double to(double value, ElementType type) {
    if (type == ElementType.FLOAT64) {
      return value;
    }
    float single = (float) value;
    if (type == ElementType.FLOAT32) {
      return single;
    }
    if (single != value) {
      return Casts.round(value, type);
    }
    if (type == ElementType.FLOAT16) {
      return Float.float16ToFloat(Float.floatToFloat16(single));
    }
    int bits = Float.floatToRawIntBits(single);
    return Float.intBitsToFloat((bits + 0x7fff + (bits >>> 16 & 1)) & 0xffff0000);
  }

  /** The distance from a number to the next larger one of a type. */
  static double ulp(double value, ElementType type) {
    double scale = Math.scalb(1.0, Math.max(Math.getExponent(value), -1022));
    return Math.max(type.minValue(), scale * 2 * type.unitRoundoff());
  }

  /** How many positive float32 numbers there are from one value of the type to the next. */
  static int step(ElementType type) {
    return Math.max(1, (int) (type.unitRoundoff() / ElementType.FLOAT32.unitRoundoff()));
  }
}
