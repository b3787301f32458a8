package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * The gradient of one float32 row whose rstd or mean leaves the range of float32: the same formulas
 * in float64, rounded once. Plain Java; such rows are rare.
 */
final class WideGradient {
  private final BackwardCall call;
  private final Workspace work;
  private final float[] gain;
  private final float[] bias;
  private final RowSum product = new RowSum();
  private final RowSum gradient = new RowSum();

  /** The row first in the workspace. */
  WideGradient(BackwardCall call, Workspace work) {
    this.call = call;
    this.work = work;
    gain = (float[]) call.gain();
    bias = (float[]) call.bias();
  }

  /** Adds the terms of a piece of the row. */
  void add(Rectangle x, Rectangle dy, int column, int columns) {
    for (int i = 0; i < columns; i++) {
      double h = h(dy.get(false, i), column + i);
      product.add(h * normalised(x.get(false, i), column + i));
      gradient.add(h);
    }
  }

  /** Leaves the sums first in the workspace. */
  void finish() {
    work.squares[0] = product.total();
    work.sums[0] = gradient.total();
  }

  void write(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int column,
      int columns,
      Object dgain,
      Object dbias) {
    for (int i = 0; i < columns; i++) {
      int c = column + i;
      double slope = dy.get(false, i);
      double xh = normalised(x.get(false, i), c);
      double h = h(slope, c);
      double centred = call.choices().centred() ? h - work.meanGradient[0] : h;
      double d = (centred - xh * work.meanProduct[0]) * work.rstd[0];
      if (residual != null) {
        d += residual.get(false, i);
      }
      if (dgain != null) {
        ((float[]) dgain)[c] += (float) (slope * xh);
      }
      if (dbias != null) {
        ((float[]) dbias)[c] += (float) slope;
      }
      dx.set(false, i, WideRange.rounded(d, call.dx().type()));
    }
  }

  private double h(double slope, int c) {
    return gain == null ? slope : slope * gain[c];
  }

  private double normalised(double x, int c) {
    if (!call.fromOutput()) {
      return (call.choices().centred() ? x - work.mean[0] : x) * work.rstd[0];
    }
    double v = bias == null ? x : x - bias[c];
    return gain == null ? v : v / gain[c];
  }
}
