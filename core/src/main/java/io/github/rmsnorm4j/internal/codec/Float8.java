package io.github.rmsnorm4j.internal.codec;

/**
 * Floating-point numbers of 8 bits, as OCP defines them. A float32 becomes one by one rounding to
 * nearest, ties to even; beyond the largest number it becomes the largest number.
 */
public enum Float8 {
  /** Four bits of exponent, three of fraction; no infinity. */
  E4M3(3, -6, 448),
  /** Five bits of exponent, two of fraction. */
  E5M2(2, -14, 57344);

  private static final int FRACTION = 23;
  private static final int MAGNITUDE = 0x7fffffff;

  /** The code of NaN, in either type. */
  private static final byte NAN = 0x7f;

  /** Bits of the fraction. */
  public final int digits;

  /** The exponent of the least normal number. */
  public final int leastExponent;

  /** The largest number. */
  public final float largest;

  /** The bits of a float32 fraction that are cut off. */
  private final int cut;

  /** The exponent of a float32 minus that of its code, at the place where the fraction ends. */
  private final int bias;

  /** The least normal number. */
  private final float leastNormal;

  /** Its last digit is that of the subnormal numbers. */
  private final float magic;

  /** The number of each code. */
  private final float[] values = new float[256];

  Float8(int digits, int leastExponent, float largest) {
    this.digits = digits;
    this.leastExponent = leastExponent;
    this.largest = largest;
    cut = FRACTION - digits;
    bias = Float.MAX_EXPONENT + leastExponent - 1 << digits;
    leastNormal = Math.scalb(1f, leastExponent);
    magic = Math.scalb(1f, leastExponent - digits + FRACTION);
    for (int code = 0; code < values.length; code++) {
      values[code] = value(code, digits, leastExponent);
    }
  }

  private static float value(int code, int digits, int leastExponent) {
    int fraction = code & (1 << digits) - 1;
    int exponent = (code & 0x7f) >>> digits;
    boolean top = exponent == 0x7f >>> digits;
    float magnitude;
    if (digits == 2 && top) {
      magnitude = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
    } else if (top && fraction == 7) {
      magnitude = Float.NaN;
    } else {
      int whole = exponent == 0 ? fraction : fraction | 1 << digits;
      magnitude = Math.scalb((float) whole, leastExponent - digits + Math.max(0, exponent - 1));
    }
    return code > 0x7f ? -magnitude : magnitude;
  }

  /** The number of a code, exactly. */
  public float decode(byte code) {
    return values[code & 0xff];
  }

  /** The code of the nearest number. A NaN has one code. */
  public byte encode(float value) {
    if (value != value) {
      return NAN;
    }
    int sign = Float.floatToRawIntBits(value) >>> 24 & 0x80;
    float magnitude = Math.min(Math.abs(value), largest);
    if (magnitude < leastNormal) {
      int code = Float.floatToRawIntBits(magnitude + magic) - Float.floatToRawIntBits(magic);
      return (byte) (sign | code);
    }
    int bits = Float.floatToRawIntBits(magnitude) & MAGNITUDE;
    int rounded = bits + (1 << cut - 1) - 1 + (bits >>> cut & 1);
    return (byte) (sign | (rounded >>> cut) - bias);
  }
}
