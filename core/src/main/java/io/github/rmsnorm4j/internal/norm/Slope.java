package io.github.rmsnorm4j.internal.norm;

/**
 * From the row sums of a backward pass to the two numbers per row that its output needs.
 *
 * <p>With {@code r = 1 / sqrt(m + eps)}, m the mean square of k elements, {@code dr/dx_j = -r^3 *
 * x_j / k}, and so {@code dx = (h - xh * sum(h * xh) / k) * r}. Where epsilon stands elsewhere, the
 * second term has one more factor: {@code (q + eps) / q} outside the root q, and on the floor 0.
 */
record Slope(NormChoices norm, boolean float64) {
  /** Below this a share is what rounding rstd to float32 left; its term is below that rounding. */
  private static final double ROUNDING = 0x1p-23;

  /** The factor {@code meanProduct}: the sum of h * xh over k, times what epsilon's place adds. */
  double product(double sum, double rstd) {
    double mean = sum / norm.part();
    return switch (norm.placement()) {
      case INSIDE -> mean;
      case OUTSIDE -> {
        double share = 1.0 - rstd * norm.epsilon(); // q / (q + eps)
        yield share > (float64 ? 0.0 : ROUNDING) ? mean / share : 0.0;
      }
      case FLOOR -> isOnFloor(rstd) ? 0.0 : mean;
    };
  }

  /** A root of exactly epsilon counts as the floor. */
  private boolean isOnFloor(double rstd) {
    double highest = 1.0 / norm.epsilon();
    return rstd >= (float64 ? highest : Math.min(highest, (float) highest));
  }

  /** The term {@code meanGradient}: LayerNorm's mean of h. */
  double gradient(double sum) {
    return sum / norm.width();
  }
}
