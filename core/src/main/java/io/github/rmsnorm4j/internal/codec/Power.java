package io.github.rmsnorm4j.internal.codec;

/**
 * Two to the power of an integer k that lies in the last bits of a number: the sum of k and {@code
 * 1.5 * 2^23} as float32, or {@code 1.5 * 2^52} as float64. Its last bits become the exponent. At
 * the k below the least exponent the result is 0.
 */
public final class Power {
  /** Bits of a float32 after its exponent, and those of 1. */
  public static final int FLOAT_BITS = 23;

  public static final int FLOAT_ONE = 127 << FLOAT_BITS;

  /** Bits of a float64 after its exponent, and those of 1. */
  public static final int DOUBLE_BITS = 52;

  public static final long DOUBLE_ONE = 1023L << DOUBLE_BITS;

  private Power() {}

  /** The power for {@code 1.5 * 2^23 + k}, where k is from -127 to 127. */
  public static float of(float shifted) {
    return Float.intBitsToFloat((Float.floatToRawIntBits(shifted) << FLOAT_BITS) + FLOAT_ONE);
  }

  /** The power for {@code 1.5 * 2^52 + k}, where k is from -1023 to 1023. */
  public static double of(double shifted) {
    return Double.longBitsToDouble(
        (Double.doubleToRawLongBits(shifted) << DOUBLE_BITS) + DOUBLE_ONE);
  }
}
