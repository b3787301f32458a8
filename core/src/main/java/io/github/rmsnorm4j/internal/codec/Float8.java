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

  /** The bits of the exponent of a float32. */
  public static final int EXPONENT = 0x7f800000;

  /** The bits of a code without its sign. */
  public static final int CODE = 0x7f;

  /** The code of NaN, in either type. */
  public static final byte NAN = 0x7f;

  /** How far the sign of a float32 is above that of a code. */
  public static final int TO_SIGN = 24;

  /** The sign of a code. */
  public static final int SIGN = 0x80;

  /** The largest number. */
  public final float largest;

  /** The bits of a float32 fraction that are cut off. */
  public final int cut;

  /** The pattern of the least normal number. */
  public final int leastNormal;

  /**
   * The pattern of what the power of two below a number is multiplied with. The last digit of the
   * product is worth that of the code. The lowest bits make up for the least exponent.
   */
  public final int lastDigit;

  /** The number of each code. */
  private final float[] values = new float[256];

  Float8(int digits, int leastExponent, float largest) {
    this.largest = largest;
    cut = FRACTION - digits;
    leastNormal = Float.MAX_EXPONENT + leastExponent << FRACTION;
    lastDigit = Float.MAX_EXPONENT + cut << FRACTION | -(leastNormal >>> cut) & 0xff;
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
    int sign = Float.floatToRawIntBits(value) >>> TO_SIGN & SIGN;
    float magnitude = Math.min(Math.abs(value), largest);
    int exponent = Math.max(Float.floatToRawIntBits(magnitude) & EXPONENT, leastNormal);
    float added = Float.intBitsToFloat(exponent) * Float.intBitsToFloat(lastDigit);
    int rounded = Float.floatToRawIntBits(magnitude + added);
    return (byte) (sign | rounded + (exponent >>> cut) & CODE);
  }
}
