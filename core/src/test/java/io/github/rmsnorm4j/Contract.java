package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT64;

/**
 * The numerics contract written again from its text, one plain step after the other, sharing
 * nothing with the kernels: what they have to equal to the bit.
 *
 * <p>Rows and results are doubles, which hold the values of every type exactly.
 */
final class Contract {
  private static final int LANES = 32;
  private static final int BLOCK = 1024;
  private static final int SUPER_BLOCK = 65_536;
  private static final int ONE_PASS = 1 << 20;

  /** One row's answer. */
  record Result(double[] y, double mean, double rstd) {}

  private Contract() {}

  /** RMSNorm or, centred, LayerNorm of one row whose values are of type in, to type out. */
  static Result row(
      double[] x,
      ElementType in,
      ElementType out,
      boolean centred,
      double epsilon,
      double[] gain,
      double[] bias) {
    return in == FLOAT64
        ? float64(x, out, centred, epsilon, gain, bias)
        : float32(x, out, centred, epsilon, floats(gain), floats(bias));
  }

  private static Result float32(
      double[] x, ElementType out, boolean centred, double epsilon, double[] gain, double[] bias) {
    Moments moments = Moments.of(x, centred, 1.0);
    double rstd = 1.0 / Math.sqrt(moments.variance + epsilon);
    float rounded = (float) rstd;
    float hi = (float) moments.mean;
    float lo = (float) (moments.mean - hi);
    boolean normal = rounded >= Float.MIN_NORMAL && rounded <= Float.MAX_VALUE;
    boolean wide = !normal || centred && Math.abs(hi) >= 0x1p103f;
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      if (wide) {
        double v = ((centred ? x[i] - moments.mean : x[i]) * rstd);
        v = gain == null ? v : v * gain[i];
        v = bias == null ? v : v + bias[i];
        y[i] = out == FLOAT64 ? (float) v : Rounding.to(out, v);
        continue;
      }
      float v = (float) x[i];
      v = centred ? (v - hi) - lo : v;
      v = v * rounded;
      v = gain == null ? v : v * (float) gain[i];
      v = bias == null ? v : v + (float) bias[i];
      y[i] = Rounding.to(out, v);
    }
    return new Result(y, moments.mean, wide ? rstd : rounded);
  }

  private static Result float64(
      double[] x, ElementType out, boolean centred, double epsilon, double[] gain, double[] bias) {
    Moments moments = Moments.of(x, centred, 1.0);
    double mean = moments.mean;
    double rstd = 1.0 / Math.sqrt(moments.variance + epsilon);
    double scale = 1.0;
    if (moments.overflowed && isFinite(x)) {
      scale = 0x1p-600;
    } else if (moments.s2 < 0x1p-900 && epsilon < 0x1p-840) {
      scale = 0x1p600;
    }
    double[] d = centred ? minus(x, mean) : x;
    double factor = rstd;
    if (scale != 1.0) {
      Moments scaled = Moments.of(x, centred, scale);
      mean = scaled.mean;
      factor = 1.0 / Math.sqrt(scaled.variance + epsilon * scale * scale);
      rstd = factor * scale;
      boolean normal = rstd >= Double.MIN_NORMAL && rstd <= Double.MAX_VALUE;
      if (normal && !(centred && scale < 1.0)) {
        d = centred ? minus(x, mean) : x;
        factor = rstd;
      } else {
        // The factor, or the difference from the mean, is out of range: elements stay scaled.
        d = scaled.centred;
      }
    }
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double v = d[i] * factor;
      v = gain == null ? v : v * gain[i];
      v = bias == null ? v : v + bias[i];
      y[i] = Rounding.to(out, v);
    }
    return new Result(y, mean, rstd);
  }

  /**
   * What follows from the sums of a row times a scale.
   *
   * @param s2 the sum of squares, of elements or of differences
   * @param mean the row's, not scaled
   * @param variance scaled twice
   * @param centred the scaled elements less their mean
   */
  private record Moments(
      double s2, boolean overflowed, double mean, double variance, double[] centred) {
    static Moments of(double[] x, boolean centred, double scale) {
      int n = x.length;
      if (!centred) {
        double[] scaled = scaled(x, scale);
        double s2 = rowSum(squares(scaled));
        return new Moments(s2, !Double.isFinite(s2), 0.0, s2 / n, scaled);
      }
      double x0 = x[0];
      double[] d = scale < 1.0 ? minus(scaled(x, scale), x0 * scale) : scaled(minus(x, x0), scale);
      double s1 = rowSum(d);
      double mean = scale < 1.0 ? (x0 * scale + s1 / n) / scale : x0 + s1 / n / scale;
      boolean twoPasses = n > ONE_PASS;
      double[] exact = scale == 1.0 ? minus(x, mean) : minus(d, s1 / n);
      double s2 = rowSum(squares(twoPasses ? exact : d));
      boolean overflowed = !Double.isFinite(s2) || !twoPasses && !Double.isFinite(s1 * s1);
      double variance = twoPasses ? s2 / n : Math.max(0.0, (s2 - s1 * s1 / n) / n);
      return new Moments(s2, overflowed, mean, variance, exact);
    }
  }

  /** Blocks of 1,024 terms in 32 lanes, super-blocks of 64 blocks, the row; then the tree. */
  static double rowSum(double[] terms) {
    double[] row = new double[LANES];
    for (int s = 0; s < terms.length; s += SUPER_BLOCK) {
      int superEnd = Math.min(terms.length, s + SUPER_BLOCK);
      double[] superBlock = new double[LANES];
      for (int b = s; b < superEnd; b += BLOCK) {
        int blockEnd = Math.min(superEnd, b + BLOCK);
        double[] block = new double[LANES];
        for (int i = b; i < blockEnd; i++) {
          block[i & 31] += terms[i];
        }
        addTo(superBlock, block);
      }
      addTo(row, superBlock);
    }
    for (int w = 16; w >= 1; w >>= 1) {
      for (int j = 0; j < w; j++) {
        row[j] += row[j + w];
      }
    }
    return row[0];
  }

  private static void addTo(double[] into, double[] lanes) {
    for (int j = 0; j < LANES; j++) {
      into[j] += lanes[j];
    }
  }

  private static double[] squares(double[] x) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = x[i] * x[i];
    }
    return terms;
  }

  private static double[] minus(double[] x, double taken) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = x[i] - taken;
    }
    return terms;
  }

  private static double[] scaled(double[] x, double scale) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = x[i] * scale;
    }
    return terms;
  }

  private static boolean isFinite(double[] x) {
    for (double v : x) {
      if (!Double.isFinite(v)) {
        return false;
      }
    }
    return true;
  }

  /** Gain and bias are rounded to the arithmetic's type. */
  private static double[] floats(double[] values) {
    if (values == null) {
      return null;
    }
    double[] rounded = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      rounded[i] = (float) values[i];
    }
    return rounded;
  }
}
