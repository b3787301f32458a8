package io.github.rmsnorm4j.internal.machine;

/** Arithmetic as the processor does it, with the NaN that it gives. */
final class Ieee {
  private static final int QUIET_FLOAT = 0x0040_0000;
  private static final long QUIET_DOUBLE = 0x0008_0000_0000_0000L;
  private static final int NO_FLOAT = 0xffc0_0000;
  private static final long NO_DOUBLE = 0xfff8_0000_0000_0000L;

  private Ieee() {}

  /** A result of floats; their NaN goes on, the first one before the second. */
  static int result(int a, int b, float result) {
    if (isNan(a)) {
      return a | QUIET_FLOAT;
    }
    if (isNan(b)) {
      return b | QUIET_FLOAT;
    }
    return Float.isNaN(result) ? NO_FLOAT : Float.floatToRawIntBits(result);
  }

  static long result(long a, long b, double result) {
    if (isNan(a)) {
      return a | QUIET_DOUBLE;
    }
    if (isNan(b)) {
      return b | QUIET_DOUBLE;
    }
    return Double.isNaN(result) ? NO_DOUBLE : Double.doubleToRawLongBits(result);
  }

  static boolean isNan(int pattern) {
    return (pattern & 0x7fff_ffff) > 0x7f80_0000;
  }

  static boolean isNan(long pattern) {
    return (pattern & Long.MAX_VALUE) > 0x7ff0_0000_0000_0000L;
  }

  /** float32 to float64. */
  static long widened(int pattern) {
    if (isNan(pattern)) {
      long payload = (pattern & 0x007f_ffffL) << 29;
      return (pattern & 0x8000_0000L) << 32 | 0x7ff0_0000_0000_0000L | QUIET_DOUBLE | payload;
    }
    return Double.doubleToRawLongBits(Float.intBitsToFloat(pattern));
  }

  /** float64 to float32. */
  static int rounded(long pattern) {
    if (isNan(pattern)) {
      int payload = (int) (pattern >>> 29) & 0x007f_ffff;
      return (int) (pattern >>> 32) & 0x8000_0000 | 0x7f80_0000 | QUIET_FLOAT | payload;
    }
    return Float.floatToRawIntBits((float) Double.longBitsToDouble(pattern));
  }

  /** float32 to bfloat16, as vcvtne2ps2bf16 does it: subnormals are 0. */
  static short bfloat16(int pattern) {
    if (isNan(pattern)) {
      return (short) (pattern >>> 16 | 0x40);
    }
    if ((pattern & 0x7f80_0000) == 0) {
      return (short) ((pattern & 0x8000_0000) >>> 16);
    }
    return (short) (pattern + 0x7fff + (pattern >>> 16 & 1) >>> 16);
  }

  /** float16 to float32. */
  static int ofFloat16(short pattern) {
    if ((pattern & 0x7fff) > 0x7c00) {
      return (pattern & 0x8000) << 16 | 0x7f80_0000 | QUIET_FLOAT | (pattern & 0x03ff) << 13;
    }
    return Float.floatToRawIntBits(Float.float16ToFloat(pattern));
  }

  /**
   * float32 to float16.
   *
   * @param mode 0: to nearest, 1: down, 2: up, 3: towards 0; from 4 on as the contract has it
   */
  static short float16(int pattern, int mode) {
    int sign = pattern >>> 16 & 0x8000;
    if (isNan(pattern)) {
      return (short) (sign | 0x7e00 | pattern >>> 13 & 0x03ff);
    }
    double size = Math.abs(Float.intBitsToFloat(pattern));
    double unit = Math.scalb(1.0, Math.clamp(Math.getExponent(size) - 10, -24, 5));
    double units = size / unit;
    boolean up = mode == (sign == 0 ? 2 : 1);
    double rounded =
        mode == 0 || mode > 3 ? Math.rint(units) : up ? Math.ceil(units) : (long) units;
    double largest = mode == 0 || mode > 3 || up ? Double.POSITIVE_INFINITY : 65504;
    double result = rounded * unit;
    if (result > 65504) {
      result = Double.isInfinite(size) ? size : largest;
    }
    return (short) (sign | Float.floatToFloat16((float) result));
  }
}
