package io.github.rmsnorm4j;

import java.util.function.DoubleUnaryOperator;

/** Gates, written again from docs/numerics.md, sharing nothing with the kernels. */
final class ContractGate {
  private static final float[] FLOATS = {
    2f, 2f, 0x1.fffffcp-1f, 0x1.555492p-2f, 0x1.5558f2p-4f, 0x1.1239ecp-6f, 0x1.6a2426p-9f
  };

  private static final double[] DOUBLES = {
    2.0,
    2.0,
    0x1.000000000000ap0,
    0x1.55555555554fap-2,
    0x1.555555555088cp-4,
    0x1.1111111127b9fp-6,
    0x1.6c16c184266aap-9,
    0x1.a01a012a686ccp-12,
    0x1.a0199a16e706dp-15,
    0x1.71df253d67c35p-18,
    0x1.28ad689efc028p-21,
    0x1.ad7f756085efep-25
  };

  private ContractGate() {}

  static float exp(float x) {
    if (Float.isNaN(x)) {
      return x;
    }
    float v = x < -87.25f ? -87.25f : x > 89f ? 89f : x;
    float n = Math.fma(v, 0x1.715476p0f, 12582911f) - 12582911f;
    float r = Math.fma(-n, 0x1.7f7d1cp-20f, Math.fma(-n, 0x1.62e4p-1f, v));
    float p = FLOATS[6];
    for (int k = 5; k >= 0; k--) {
      p = Math.fma(p, r, FLOATS[k]);
    }
    return n == -126f ? p * 0f : p * (float) Math.pow(2, n - 1);
  }

  static double exp(double x) {
    if (Double.isNaN(x)) {
      return x;
    }
    double v = Math.clamp(x, -708.5, 710.0);
    double shift = 0x1.8p52 - 1;
    double n = Math.fma(v, 0x1.71547652b82fep0, shift) - shift;
    double r = Math.fma(-n, 0x1.cf79abc9e3b3ap-40, Math.fma(-n, 0x1.62e42fefap-1, v));
    double p = DOUBLES[11];
    for (int k = 10; k >= 0; k--) {
      p = Math.fma(p, r, DOUBLES[k]);
    }
    return n == -1022 ? p * 0 : p * Math.pow(2, n - 1);
  }

  private static double sigmoid(double z, boolean float64) {
    return float64 ? 1 / (1 + exp(-z)) : 1f / (1f + exp((float) -z));
  }

  /** What the forward pass multiplies by. */
  static double[] forward(Gate gate, double[] z, ElementType arithmetic) {
    boolean d = arithmetic == ElementType.FLOAT64;
    return each(
        z,
        v ->
            gate == Gate.SIGMOID
                ? sigmoid(v, d)
                : d ? v / (1 + exp(-v)) : (float) v / (1f + exp((float) -v)));
  }

  /** What the backward pass multiplies by. */
  static double[] backward(Gate gate, double[] z, ElementType arithmetic) {
    boolean d = arithmetic == ElementType.FLOAT64;
    double[] s = each(z, v -> sigmoid(v, d));
    return gate == Gate.SIGMOID ? s : product(z, s, arithmetic);
  }

  static double[] derivative(Gate gate, double[] z, ElementType arithmetic) {
    boolean d = arithmetic == ElementType.FLOAT64;
    return each(
        z,
        v -> {
          double s = sigmoid(v, d);
          double rest = d ? 1 - s : 1f - (float) s;
          if (gate != Gate.SIGMOID) {
            rest = d ? 1 + v * rest : 1f + (float) v * (float) rest;
          }
          return d ? s * rest : (float) s * (float) rest;
        });
  }

  /** Element by element, rounded once. */
  static double[] product(double[] a, double[] b, ElementType arithmetic) {
    double[] product = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      product[i] = Rounding.to(arithmetic, a[i] * b[i]);
    }
    return product;
  }

  private static double[] each(double[] z, DoubleUnaryOperator function) {
    double[] values = new double[z.length];
    for (int i = 0; i < z.length; i++) {
      values[i] = function.applyAsDouble(z[i]);
    }
    return values;
  }
}
