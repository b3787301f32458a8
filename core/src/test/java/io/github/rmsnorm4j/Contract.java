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
    double kept = rstd;
    double scale = 1.0;
    if (moments.overflowed && isFinite(x)) {
      scale = 0x1p-600;
    } else if (moments.s2 < 0x1p-900 && epsilon < 0x1p-840) {
      scale = 0x1p600;
    }
    if (scale != 1.0) {
      Moments scaled = Moments.of(x, centred, scale);
      mean = scaled.mean;
      rstd = 1.0 / Math.sqrt(scaled.variance + epsilon * scale * scale);
      kept = rstd * scale;
      // Elements stay scaled where the factor, or the difference from the mean, is out of range.
      boolean normal = kept >= Double.MIN_NORMAL && kept <= Double.MAX_VALUE;
      if (normal && !(centred && scale < 1.0)) {
        rstd = kept;
        scale = 1.0;
      }
    }
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double v = difference(x[i], centred ? mean : 0.0, scale) * rstd;
      v = gain == null ? v : v * gain[i];
      v = bias == null ? v : v + bias[i];
      y[i] = Rounding.to(out, v);
    }
    return new Result(y, mean, kept);
  }

  /** Sums of a row times the scale, its variance times the scale's square, and its mean. */
  private record Moments(double s2, boolean overflowed, double mean, double variance) {
    static Moments of(double[] x, boolean centred, double scale) {
      int n = x.length;
      if (!centred) {
        double s2 = rowSum(squares(minus(x, 0.0, scale)));
        return new Moments(s2, !Double.isFinite(s2), 0.0, s2 / n);
      }
      double[] d = minus(x, x[0], scale);
      double s1 = rowSum(d);
      double mean = scale < 1.0 ? (x[0] * scale + s1 / n) / scale : x[0] + s1 / n / scale;
      boolean twoPasses = n > ONE_PASS;
      double s2 = rowSum(squares(twoPasses ? minus(x, mean, scale) : d));
      boolean overflowed = !Double.isFinite(s2) || !twoPasses && !Double.isFinite(s1 * s1);
      double variance = twoPasses ? s2 / n : Math.max(0.0, (s2 - s1 * s1 / n) / n);
      return new Moments(s2, overflowed, mean, variance);
    }
  }

  /** (x - taken) * scale, without overflow where that is small. */
  private static double difference(double x, double taken, double scale) {
    return scale < 1.0 ? x * scale - taken * scale : (x - taken) * scale;
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

  private static double[] minus(double[] x, double taken, double scale) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = difference(x[i], taken, scale);
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
