package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * Rows whose rstd or mean leaves the range of the arithmetic's type: the same formula in float64,
 * rounded to the output's type once. Plain Java; such rows are rare.
 */
final class WideRange {
  private WideRange() {}

  /** Writes part of the row whose statistic is first in the workspace. */
  static void write(
      NormCall call, RowReader in, RowWriter out, int column, int columns, Workspace work) {
    boolean float64 = call.float64();
    Memory from = call.x().memory();
    Memory to = call.y().memory();
    double taken = !call.centred() ? 0.0 : float64 ? work.shift[0] : work.mean[0];
    double mean = float64 ? work.sums[0] : 0.0;
    for (int i = 0; i < columns; i++) {
      double x = from.get(float64, in.base, in.offset, i);
      double y = (Rescaled.difference(x, taken, work.scale) - mean) * work.rstd[0];
      if (call.gain() != null) {
        y *= parameter(call.gain(), column + i);
      }
      if (call.bias() != null) {
        y += parameter(call.bias(), column + i);
      }
      to.set(float64, out.base, out.offset, i, float64 ? y : rounded(y, call.y().type()));
    }
  }

  private static double parameter(Object values, int index) {
    return values instanceof float[] floats ? floats[index] : ((double[]) values)[index];
  }

  /** Float32 arithmetic ends in float32; a wider output is the widened result. */
  private static float rounded(double y, ElementType type) {
    return (float) (type == ElementType.FLOAT64 ? y : Narrow.round(y, type));
  }
}
