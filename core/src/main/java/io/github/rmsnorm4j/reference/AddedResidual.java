package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ResidualRounding;

/**
 * A row added to its residual, {@code h = x + residual}, in three roles that differ by whether h is
 * rounded to the residual's type before.
 *
 * @param stored what the residual becomes: rounded, always
 * @param measured what mean and root are of
 * @param normalised what is divided by the root
 */
public record AddedResidual(double[] stored, double[] measured, double[] normalised) {
  /**
   * Adds.
   *
   * @param x the row
   * @param residual what it is added to
   * @param arithmetic the type of the sum: float32, or float64 for float64 rows
   * @param type of the residual
   * @param when it is rounded to that
   * @return the sum in its three roles
   */
  public static AddedResidual of(
      double[] x,
      double[] residual,
      ElementType arithmetic,
      ElementType type,
      ResidualRounding when) {
    double[] h = new double[x.length];
    double[] rounded = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      h[i] = Casts.round(x[i] + residual[i], arithmetic);
      rounded[i] = Casts.round(h[i], type);
    }
    return switch (when) {
      case FIRST -> new AddedResidual(rounded, rounded, rounded);
      case BETWEEN -> new AddedResidual(rounded, h, rounded);
      case LAST -> new AddedResidual(rounded, h, h);
    };
  }
}
