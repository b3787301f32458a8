package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * Rows whose rstd or mean leaves the range of the arithmetic's type: the same formula in float64,
 * rounded to the output's type once. Plain Java; such rows are rare.
 */
final class WideRange {
  private WideRange() {}

  /** Writes part of the row whose statistic is first in the workspace. */
  static void write(
      NormCall call, Rectangle in, Rectangle out, int column, int columns, Workspace work) {
    boolean float64 = call.float64();
    boolean centred = call.choices().centred();
    boolean divides = call.choices().divides();
    ElementType rounding = call.rounding();
    double taken = !centred ? 0.0 : float64 ? work.shift[0] : work.mean[0];
    double mean = float64 ? work.sums[0] : 0.0;
    for (int i = 0; i < columns; i++) {
      double x = in.get(float64, i);
      double y = Rescaled.difference(x, taken, work.scale) - mean;
      y = divides ? y / work.root[0] : y * work.rstd[0];
      if (rounding != null) {
        y = Narrow.round(y, rounding);
      }
      if (call.gain() != null) {
        y *= parameter(call.gain(), column + i);
      }
      if (call.bias() != null) {
        y += parameter(call.bias(), column + i);
      }
      out.set(float64, i, float64 ? y : rounded(y, call.y().type()));
    }
  }

  private static double parameter(Object values, int index) {
    return values instanceof float[] floats ? floats[index] : ((double[]) values)[index];
  }

  /** Float32 arithmetic ends in float32; a wider output is the widened result. */
  static float rounded(double y, ElementType type) {
    return (float) (type == ElementType.FLOAT64 ? y : Narrow.round(y, type));
  }
}
