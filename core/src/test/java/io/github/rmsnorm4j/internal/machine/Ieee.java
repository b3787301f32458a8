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

  /** float16 to float32. */
  static int ofFloat16(short pattern) {
    if ((pattern & 0x7fff) > 0x7c00) {
      int payload = (pattern & 0x03ff) << 13;
      return (pattern & 0x8000) << 16 | 0x7f80_0000 | QUIET_FLOAT | payload;
    }
    return Float.floatToRawIntBits(Float.float16ToFloat(pattern));
  }

  /** float32 to float16, to nearest. */
  static short float16(int pattern) {
    if (isNan(pattern)) {
      int payload = pattern >>> 13 & 0x03ff;
      return (short) (pattern >>> 16 & 0x8000 | 0x7e00 | payload);
    }
    return Float.floatToFloat16(Float.intBitsToFloat(pattern));
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
}
