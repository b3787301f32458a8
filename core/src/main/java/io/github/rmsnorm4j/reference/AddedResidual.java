package io.github.rmsnorm4j.reference;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ResidualRounding;

/**
 * A row added to its residual, {@code h = x + residual}, in three roles. In each role h may be
 * rounded to the type of the residual or not.
 *
 * @param stored the new residual: always rounded
 * @param measured the row from which mean and root are computed
 * @param normalised the row that is divided by the root
 */
public record AddedResidual(double[] stored, double[] measured, double[] normalised) {
  /**
   * {@return the sum of a row and its residual, in its three roles}
   *
   * @param x the row
   * @param residual the residual
   * @param arithmetic the type of the sum: float32, or float64 for float64 rows
   * @param type the type of the residual
   * @param when when the sum is rounded to that type
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
