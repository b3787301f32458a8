package io.github.rmsnorm4j.reference;

/** RMSNorm and LayerNorm of one row, as their papers define them. */
public final class Definitions {
  private Definitions() {}

  /**
   * RMSNorm (Zhang and Sennrich 2019, formula 4), with epsilon inside the root: {@code y_i = x_i /
   * sqrt(mean(x^2) + eps) * g_i + b_i}.
   *
   * @param x the row
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   * @param epsilon added to the mean square
   * @return the normalised row
   */
  public static double[] rmsNorm(double[] x, double[] gain, double[] bias, double epsilon) {
    double sum = 0;
    for (double v : x) {
      sum += v * v;
    }
    return affine(x, 0, Math.sqrt(sum / x.length + epsilon), gain, bias);
  }

  /**
   * LayerNorm (Ba, Kiros and Hinton 2016), with the population variance and epsilon inside the
   * root: {@code y_i = (x_i - mean(x)) / sqrt(var(x) + eps) * g_i + b_i}.
   *
   * @param x the row
   * @param gain one factor per element, or null for none
   * @param bias one term per element, or null for none
   * @param epsilon added to the variance
   * @return the normalised row
   */
  public static double[] layerNorm(double[] x, double[] gain, double[] bias, double epsilon) {
    double sum = 0;
    for (double v : x) {
      sum += v;
    }
    double mean = sum / x.length;
    double squares = 0;
    for (double v : x) {
      squares += (v - mean) * (v - mean);
    }
    return affine(x, mean, Math.sqrt(squares / x.length + epsilon), gain, bias);
  }

  private static double[] affine(
      double[] x, double mean, double root, double[] gain, double[] bias) {
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double normalised = (x[i] - mean) / root;
      y[i] = normalised * (gain == null ? 1 : gain[i]) + (bias == null ? 0 : bias[i]);
    }
    return y;
  }
}
