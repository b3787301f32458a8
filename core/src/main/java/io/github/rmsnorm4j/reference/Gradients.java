package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.EpsilonPlacement;

/**
 * The way back through {@link Definitions}: from dy, the gradient of a loss to the output, those to
 * the row, the gain and the bias.
 *
 * <p>They are the derivatives of {@code y_i = d_i / rho * g_i + b_i} with {@code d = x - mean(x)},
 * or {@code d = x} for RMSNorm, and {@code rho} the root of {@code m = sum(d_i^2) / k}; for RMSNorm
 * with k = n section 3.2 of its paper has the same. A cast on the way is taken for what it stands
 * for, its gradient is 1. A residual's own gradient is added to the row's.
 */
public final class Gradients {
  private Gradients() {}

  /**
   * RMSNorm's row, with {@code h_i = dy_i * g_i}: {@code dx_j = h_j / rho - sum(h_i * x_i) / rho^2
   * * drho/dx_j}, where {@code drho/dx_j = s * x_j / k} for the first k elements, 0 for others, and
   * s is that of {@link #rootSlope}.
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param gain one factor per element, or null for none
   * @param k how many elements count
   * @param epsilon not negative
   * @param placement of epsilon
   * @return the gradient of the row
   */
  public static double[] rmsNorm(
      double[] x, double[] dy, double[] gain, int k, double epsilon, EpsilonPlacement placement) {
    double m = Definitions.meanSquare(x, k);
    double root = Definitions.root(m, epsilon, placement);
    double[] h = scaled(dy, gain);
    double along = dot(h, x) / (root * root) * rootSlope(m, epsilon, placement) / k;
    double[] dx = new double[x.length];
    for (int j = 0; j < x.length; j++) {
      dx[j] = h[j] / root - (j < k ? along * x[j] : 0);
    }
    return dx;
  }

  /**
   * LayerNorm's row, with {@code h_i = dy_i * g_i} and {@code d = x - mean(x)}: {@code dx_j = (h_j
   * - mean(h)) / rho - sum(h_i * d_i) / rho^2 * s * d_j / n}.
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param gain one factor per element, or null for none
   * @param epsilon not negative
   * @param placement of epsilon
   * @return the gradient of the row
   */
  public static double[] layerNorm(
      double[] x, double[] dy, double[] gain, double epsilon, EpsilonPlacement placement) {
    double[] d = centred(x);
    double[] h = scaled(dy, gain);
    double[] ofCentred = rmsNorm(d, h, null, x.length, epsilon, placement);
    return centred(ofCentred);
  }

  /**
   * The gain's share from one row, {@code dgain_i = dy_i * (x_i - mean) / rho}; rows' are added up.
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param mean 0 for RMSNorm
   * @param root what the row is divided by
   * @return the gradient of the gain
   */
  public static double[] gain(double[] x, double[] dy, double mean, double root) {
    return Definitions.output(x, mean, root, dy, null);
  }

  /**
   * The derivative of a root to its own square root q = sqrt(m), by q: {@code (drho/dq) / q}, so
   * that {@code drho/dx_j = s * d_j / k}. Inside it is {@code 1 / rho}; outside, and above the
   * floor, {@code 1 / q}; on the floor, and where q is 0, it is 0.
   *
   * @param m mean square or variance
   * @param epsilon not negative
   * @param placement of epsilon
   * @return the slope
   */
  public static double rootSlope(double m, double epsilon, EpsilonPlacement placement) {
    double q = Math.sqrt(m);
    boolean fixed = placement == EpsilonPlacement.FLOOR && q <= epsilon;
    if (q == 0 || fixed) {
      return 0;
    }
    return 1 / (placement == EpsilonPlacement.INSIDE ? Math.sqrt(m + epsilon) : q);
  }

  private static double[] scaled(double[] dy, double[] gain) {
    return Definitions.output(dy, 0, 1, gain, null);
  }

  private static double[] centred(double[] row) {
    return Definitions.output(row, Definitions.mean(row), 1, null, null);
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
