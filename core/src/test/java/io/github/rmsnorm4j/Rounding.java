package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;

/** Rounding of a double to a type, by the definition of the type and not by its bits. */
public final class Rounding {
  private Rounding() {}

  /** The nearest value of the type, ties to even, past the largest infinity. */
  public static double to(ElementType type, double value) {
    return switch (type) {
      case FLOAT64 -> value;
      case FLOAT32 -> (float) value;
      case FLOAT16 -> to(value, 11, -14, 65504.0);
      case BFLOAT16 -> to(value, 8, -126, 0x1.fep127);
    };
  }

  private static double to(double value, int digits, int minExponent, double largest) {
    if (!Double.isFinite(value)) {
      return value;
    }
    int unit = Math.max(Math.getExponent(value), minExponent) - (digits - 1);
    double rounded = Math.scalb(Math.rint(Math.scalb(value, -unit)), unit);
    return Math.abs(rounded) > largest ? Math.copySign(Double.POSITIVE_INFINITY, value) : rounded;
  }

  /** Half the distance of neighbours around a value: what one rounding may change. */
  static double half(ElementType type, double value) {
    int digits =
        switch (type) {
          case FLOAT64 -> 53;
          case FLOAT32 -> 24;
          case FLOAT16 -> 11;
          case BFLOAT16 -> 8;
        };
    int minExponent =
        switch (type) {
          case FLOAT64 -> -1022;
          case FLOAT32, BFLOAT16 -> -126;
          case FLOAT16 -> -14;
        };
    int exponent = Math.max(Math.getExponent(value), minExponent);
    return Math.scalb(1.0, exponent - digits);
  }

  /** The pattern of a value of the type; there is one NaN, the canonical one. */
  static long bits(ElementType type, double value) {
    return switch (type) {
      case FLOAT64 -> Double.doubleToLongBits(value);
      case FLOAT32 -> Float.floatToIntBits((float) value);
      case FLOAT16 -> value != value ? 0x7e00 : Float.floatToFloat16((float) value) & 0xffff;
      case BFLOAT16 -> value != value ? 0x7fc0 : Float.floatToRawIntBits((float) value) >>> 16;
    };
  }

  /** The patterns of values, one after the other as in memory. */
  static MemorySegment image(ElementType type, double[] values) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(values);
      case FLOAT32 -> {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
          floats[i] = (float) values[i];
        }
        yield MemorySegment.ofArray(floats);
      }
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = new short[values.length];
        for (int i = 0; i < patterns.length; i++) {
          patterns[i] = (short) bits(type, values[i]);
        }
        yield MemorySegment.ofArray(patterns);
      }
    };
  }

  /** The value of a pattern. */
  static double value(ElementType type, long bits) {
    return switch (type) {
      case FLOAT64 -> Double.longBitsToDouble(bits);
      case FLOAT32 -> Float.intBitsToFloat((int) bits);
      case FLOAT16 -> float16((int) bits);
      case BFLOAT16 -> Float.intBitsToFloat((int) bits << 16);
    };
  }

  /** By its fields: C2 of JDK 21 vectorises Float.float16ToFloat((short) i) without the cast. */
  private static double float16(int bits) {
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double size = exponent == 0 ? fraction * 0x1p-24 : Math.scalb(1024.0 + fraction, exponent - 25);
    if (exponent == 31) {
      size = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
    }
    return (bits & 0x8000) == 0 ? size : -size;
  }
}
