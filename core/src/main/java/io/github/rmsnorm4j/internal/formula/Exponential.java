package io.github.rmsnorm4j.internal.formula;

import java.util.Arrays;

/**
 * {@code exp(-z)} as docs/numerics.md defines it: a sequence of operations of the type of z, each
 * rounded once.
 *
 * <p>With {@code -z = n * ln 2 + r} it is {@code 2 * e^r * 2^(n - 1)}, so that the power of two is
 * a number of the type where the result is one. The polynomial is that of 2 * e^r in -r. It is the
 * one with the least relative error in the interval of r, among those whose first two terms are
 * exact, with coefficients rounded to the type.
 *
 * @param least where z is less, the result is infinity
 * @param most where z is greater, the result is 0
 * @param shift 1.5 * 2^23 or 1.5 * 2^52, less 1: a sum with it is rounded to an integer
 * @param perLn2 1 / ln 2
 * @param ln2 the first bits of ln 2, so few that its product with n is exact
 * @param ln2Rest the rest of it
 * @param polynomial the coefficients, the last one first
 */
record Exponential(
    Value least,
    Value most,
    Value shift,
    Value perLn2,
    Value ln2,
    Value ln2Rest,
    Value[] polynomial) {
  private static final Exponential OF_FLOAT32 =
      of(
          false,
          -89.0,
          87.25,
          0x1.8p23 - 1,
          -0x1.715476p0,
          0x1.62e4p-1,
          0x1.7f7d1cp-20,
          0x1.6a2426p-9,
          -0x1.1239ecp-6,
          0x1.5558f2p-4,
          -0x1.555492p-2,
          0x1.fffffcp-1,
          -2.0,
          2.0);

  private static final Exponential OF_FLOAT64 =
      of(
          true,
          -710.0,
          708.5,
          0x1.8p52 - 1,
          -0x1.71547652b82fep0,
          0x1.62e42fefap-1,
          0x1.cf79abc9e3b3ap-40,
          -0x1.ad7f756085efep-25,
          0x1.28ad689efc028p-21,
          -0x1.71df253d67c35p-18,
          0x1.a0199a16e706dp-15,
          -0x1.a01a012a686ccp-12,
          0x1.6c16c184266aap-9,
          -0x1.1111111127b9fp-6,
          0x1.555555555088cp-4,
          -0x1.55555555554fap-2,
          0x1.000000000000ap0,
          -2.0,
          2.0);

  /** From the numbers of the components, in their order. */
  private static Exponential of(boolean float64, double... numbers) {
    Value[] all = new Value[numbers.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = Value.literal(numbers[i], float64);
    }
    Value[] polynomial = Arrays.copyOfRange(all, 6, all.length);
    return new Exponential(all[0], all[1], all[2], all[3], all[4], all[5], polynomial);
  }

  /**
   * {@code 1 + exp(-z)}, of the type of z. The product with the power of two is exact or infinite,
   * so it is fused with the sum.
   */
  static Value ofNegativePlusOne(Value z) {
    return (z.float64() ? OF_FLOAT64 : OF_FLOAT32).plusOne(z);
  }

  private Value plusOne(Value z) {
    Value v = z.min(most).max(least);
    Value shifted = v.fma(perLn2, shift);
    Value n = shifted.minus(shift);
    Value rest = n.fma(ln2Rest, n.fma(ln2, v));
    Value sum = polynomial[0];
    for (int i = 1; i < polynomial.length; i++) {
      sum = sum.fma(rest, polynomial[i]);
    }
    return sum.fma(shifted.power(), Value.literal(1.0, z.float64()));
  }
}
