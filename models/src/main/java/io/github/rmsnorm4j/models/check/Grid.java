package io.github.rmsnorm4j.models.check;

/**
 * Neighbouring positive numbers of the compute type.
 *
 * @param float64 whether that is float64
 * @param base the pattern of number 0
 */
record Grid(boolean float64, long base) {
  static Grid at(boolean float64, double value) {
    return new Grid(float64, pattern(float64, value));
  }

  double number(long k) {
    return float64 ? Double.longBitsToDouble(base + k) : Float.intBitsToFloat((int) (base + k));
  }

  long index(double value) {
    return pattern(float64, value) - base;
  }

  private static long pattern(boolean float64, double value) {
    return float64 ? Double.doubleToLongBits(value) : Float.floatToIntBits((float) value);
  }
}
