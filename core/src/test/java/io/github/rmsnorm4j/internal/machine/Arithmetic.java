package io.github.rmsnorm4j.internal.machine;

/** What instructions do with two elements, or with three. */
final class Arithmetic {
  /** Of two floats, as patterns. */
  interface Floats {
    int apply(int a, int b);
  }

  /** Of two doubles, as patterns. */
  interface Doubles {
    long apply(long a, long b);
  }

  private Arithmetic() {}

  private static float f(int pattern) {
    return Float.intBitsToFloat(pattern);
  }

  private static double d(long pattern) {
    return Double.longBitsToDouble(pattern);
  }

  /** Null where an instruction is not one of floats. */
  static Floats floats(VectorOp op) {
    return switch (op) {
      case VADDPS -> (a, b) -> Ieee.result(a, b, f(a) + f(b));
      case VSUBPS -> (a, b) -> Ieee.result(a, b, f(a) - f(b));
      case VMULPS -> (a, b) -> Ieee.result(a, b, f(a) * f(b));
      case VDIVPS -> (a, b) -> Ieee.result(a, b, f(a) / f(b));
      // The second one where they are equal, or one is NaN.
      case VMAXPS -> (a, b) -> f(a) > f(b) ? a : b;
      case VMINPS -> (a, b) -> f(a) < f(b) ? a : b;
      case VXORPS -> (a, b) -> a ^ b;
      case VANDPS, VPAND, VPANDD -> (a, b) -> a & b;
      case VPADDD -> Integer::sum;
      case VPSUBD -> (a, b) -> a - b;
      default -> null;
    };
  }

  /** Null where it is not one of doubles. */
  static Doubles doubles(VectorOp op) {
    return switch (op) {
      case VADDPD -> (a, b) -> Ieee.result(a, b, d(a) + d(b));
      case VSUBPD -> (a, b) -> Ieee.result(a, b, d(a) - d(b));
      case VMULPD -> (a, b) -> Ieee.result(a, b, d(a) * d(b));
      case VDIVPD -> (a, b) -> Ieee.result(a, b, d(a) / d(b));
      // The second one where they are equal, or one is NaN.
      case VMAXPD -> (a, b) -> d(a) > d(b) ? a : b;
      case VMINPD -> (a, b) -> d(a) < d(b) ? a : b;
      case VPADDQ -> Long::sum;
      default -> null;
    };
  }

  /**
   * A product and a sum, rounded once; the sign of the product is changed with that of {@code
   * sign}. A NaN of the factors comes before the sum's.
   */
  static int fused(int a, int b, int c, int sign) {
    float result = Math.fma(f(a ^ sign), f(b), f(c));
    int ofBoth = Ieee.isNan(a) || !Ieee.isNan(b) ? a : b;
    return Ieee.isNan(ofBoth) ? Ieee.result(ofBoth, c, result) : Ieee.result(c, c, result);
  }

  /** The same of doubles. */
  static long fused(long a, long b, long c) {
    double result = Math.fma(d(a), d(b), d(c));
    long ofBoth = Ieee.isNan(a) || !Ieee.isNan(b) ? a : b;
    return Ieee.isNan(ofBoth) ? Ieee.result(ofBoth, c, result) : Ieee.result(c, c, result);
  }
}
