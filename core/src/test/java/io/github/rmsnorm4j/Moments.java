package io.github.rmsnorm4j;

/**
 * What the contract has of a row, or of its part, before the output: its sums times a scale, and
 * what follows from them.
 *
 * @param s2 the sum of squares, of elements or of differences
 * @param mean the row's, not scaled
 * @param variance scaled twice; for RMSNorm the mean square
 * @param centred the scaled elements less their mean; null for RMSNorm
 */
record Moments(double s2, boolean overflowed, double mean, double variance, double[] centred) {
  private static final int LANES = 32;
  private static final int BLOCK = 1024;
  private static final int SUPER_BLOCK = 65_536;
  private static final int ONE_PASS = 1 << 20;

  /** The moments of a row whose squares are rounded to a type, unless it is null. */
  static Moments of(double[] x, boolean centred, double scale, ElementType type) {
    int n = x.length;
    if (!centred) {
      double[] squares = squares(scaled(x, scale));
      for (int i = 0; i < n && type != null; i++) {
        squares[i] = Rounding.to(type, (float) squares[i]);
      }
      double s2 = rowSum(squares);
      return new Moments(s2, !Double.isFinite(s2), 0.0, s2 / n, null);
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

  static double[] minus(double[] x, double taken) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = x[i] - taken;
    }
    return terms;
  }

  static double[] scaled(double[] x, double scale) {
    double[] terms = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      terms[i] = x[i] * scale;
    }
    return terms;
  }
}
