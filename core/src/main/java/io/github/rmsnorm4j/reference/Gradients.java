package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The gradients of {@link Definitions}: from dy, the gradient of the output, to the gradients of
 * the row and the gain. The gradient of the bias is the sum of dy over rows.
 *
 * <p>They are the derivatives of {@code y_i = d_i / root * g_i + b_i}, where {@code d = x -
 * mean(x)}, or {@code d = x} for RMSNorm, and root is that of {@code m = sum(d_i^2) / k}. For
 * RMSNorm with k = n section 3.2 of the paper has the same formulas. A cast has gradient 1. The
 * gradient of a residual is added to the gradient of the row.
 */
public final class Gradients {
  private Gradients() {}

  /**
   * {@return the gradient of a row of RMSNorm, with {@code h_i = dy_i * g_i}: {@code dx_j = h_j /
   * root - sum(h_i * x_i) / root^2 * droot/dx_j}} {@code droot/dx_j} is {@code s * x_j / k} for the
   * first k elements and 0 for the others; {@link #rootSlope} gives s.
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param gain one factor per element, or null for none
   * @param k the number of elements of the statistic
   * @param epsilon not negative
   * @param placement the placement of epsilon
   */
  public static double[] rmsNorm(
      double[] x,
      double[] dy,
      double @Nullable [] gain,
      int k,
      double epsilon,
      EpsilonPlacement placement) {
    double m = Definitions.meanSquare(x, k);
    return ofSquares(x, scaled(dy, gain), m, k, k, epsilon, placement);
  }

  /**
   * {@return the gradient of a row of the L2 norm: that of {@link #rmsNorm} with the sum of the
   * squares instead of their mean, {@code droot/dx_j = s * x_j}}
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param gain one factor per element, or null for none
   * @param epsilon not negative
   * @param placement the placement of epsilon
   */
  public static double[] l2Norm(
      double[] x,
      double[] dy,
      double @Nullable [] gain,
      double epsilon,
      EpsilonPlacement placement) {
    int n = x.length;
    double m = Definitions.meanSquare(x, n) * n;
    boolean hasFloor = placement == EpsilonPlacement.FLOOR;
    if (hasFloor && epsilon == 0 && Arrays.stream(x).allMatch(v -> v == 0)) {
      return new double[n]; // Such a row is multiplied by 0.
    }
    return ofSquares(x, scaled(dy, gain), m, n, 1, epsilon, placement);
  }

  /** The gradient where the root is that of m, the sum of k squares divided by a count. */
  private static double[] ofSquares(
      double[] x,
      double[] h,
      double m,
      int k,
      int count,
      double epsilon,
      EpsilonPlacement placement) {
    double root = Definitions.root(m, epsilon, placement);
    double along = dot(h, x) / (root * root) * rootSlope(m, epsilon, placement) / count;
    double[] dx = new double[x.length];
    for (int j = 0; j < x.length; j++) {
      dx[j] = h[j] / root - (j < k ? along * x[j] : 0);
    }
    return dx;
  }

  /**
   * {@return the gradient of a row of LayerNorm, with {@code h_i = dy_i * g_i} and {@code d = x -
   * mean(x)}: {@code dx_j = (h_j - mean(h)) / root - sum(h_i * d_i) / root^2 * s * d_j / n}}
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param gain one factor per element, or null for none
   * @param epsilon not negative
   * @param placement the placement of epsilon
   */
  public static double[] layerNorm(
      double[] x,
      double[] dy,
      double @Nullable [] gain,
      double epsilon,
      EpsilonPlacement placement) {
    double[] d = centred(x);
    double[] h = scaled(dy, gain);
    double[] ofCentred = rmsNorm(d, h, null, x.length, epsilon, placement);
    return centred(ofCentred);
  }

  /**
   * {@return what one row adds to the gradient of the gain: {@code dgain_i = dy_i * (x_i - mean) /
   * root}}
   *
   * @param x the row
   * @param dy the gradient of the output
   * @param mean 0 for RMSNorm
   * @param root the number by which the row is divided
   */
  public static double[] gain(double[] x, double[] dy, double mean, double root) {
    return Definitions.output(x, mean, root, dy, null);
  }

  /**
   * {@return the factor s in {@code droot/dx_j = s * d_j / k}} With q = sqrt(m) it is {@code
   * (droot/dq) / q}: {@code 1 / root} for epsilon inside the root; {@code 1 / q} for epsilon
   * outside, and for rows above the floor; 0 for rows on the floor, and if q is 0.
   *
   * @param m mean square or variance
   * @param epsilon not negative
   * @param placement the placement of epsilon
   */
  public static double rootSlope(double m, double epsilon, EpsilonPlacement placement) {
    double q = Math.sqrt(m);
    boolean fixed = placement == EpsilonPlacement.FLOOR && q <= epsilon;
    if (q == 0 || fixed) {
      return 0;
    }
    return 1 / (placement == EpsilonPlacement.INSIDE ? Math.sqrt(m + epsilon) : q);
  }

  /**
   * {@return the derivative of {@link Definitions#gate} at each z: {@code s * (1 - s)} of a
   * sigmoid, {@code s * (1 + z * (1 - s))} of SiLU, where {@code s = sigmoid(z)}} The gradient of z
   * is this times the gradient of the activation.
   *
   * @param z the row of the gate
   * @param gate not NONE
   */
  public static double[] gate(double[] z, Gate gate) {
    double[] s = Definitions.gate(z, Gate.SIGMOID);
    double[] slopes = new double[z.length];
    for (int i = 0; i < z.length; i++) {
      slopes[i] = s[i] * (gate == Gate.SIGMOID ? 1 - s[i] : 1 + z[i] * (1 - s[i]));
    }
    return slopes;
  }

  private static double[] scaled(double[] dy, double @Nullable [] gain) {
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
