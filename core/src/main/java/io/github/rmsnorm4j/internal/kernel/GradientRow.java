package io.github.rmsnorm4j.internal.kernel;

/**
 * The contract's backward formulas, element by element, every operation rounded to the arithmetic's
 * type.
 *
 * <p>xh is {@code x * rstd}, centred {@code ((x - hi) - lo) * rstd}, and from the output {@code (y
 * - b) / g}; h is {@code dy * g}. An absent gain or bias is no operation.
 */
final class GradientRow {
  private GradientRow() {}

  static float normalised(
      GradientKernel.Spec spec,
      float x,
      float hi,
      float lo,
      float rstd,
      float[] gain,
      float[] bias,
      int i) {
    if (!spec.fromOutput()) {
      return (spec.centred() ? (x - hi) - lo : x) * rstd;
    }
    float v = spec.bias() ? x - bias[i] : x;
    return spec.gain() ? v / gain[i] : v;
  }

  static double normalised(
      GradientKernel.Spec spec,
      double x,
      double mean,
      double rstd,
      double[] gain,
      double[] bias,
      int i) {
    if (!spec.fromOutput()) {
      return (spec.centred() ? x - mean : x) * rstd;
    }
    double v = spec.bias() ? x - bias[i] : x;
    return spec.gain() ? v / gain[i] : v;
  }

  /** Elements {@code from} to {@code to} of row r. */
  static void floats(
      GradientKernel.Spec spec,
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int r,
      int from,
      int to,
      int column,
      float[] gain,
      float[] bias,
      float[] dgain,
      float[] dbias,
      Workspace work) {
    float hi = (float) work.mean[r];
    float lo = (float) (work.mean[r] - hi);
    float rstd = (float) work.rstd[r];
    float product = (float) work.meanProduct[r];
    float gradient = (float) work.meanGradient[r];
    for (int i = from; i < to; i++) {
      int c = column + i;
      float v = Memory.getFloat(spec.x(), x.base, x.offset + r * x.stride, i);
      float slope = Memory.getFloat(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
      float xh = normalised(spec, v, hi, lo, rstd, gain, bias, c);
      float h = spec.gain() ? slope * gain[c] : slope;
      float d = ((spec.centred() ? h - gradient : h) - xh * product) * rstd;
      if (spec.residual()) {
        long at = residual.offset + r * residual.stride;
        d += Memory.getFloat(spec.residualMemory(), residual.base, at, i);
      }
      Memory.setFloat(spec.dx(), dx.base, dx.offset + r * dx.stride, i, d);
      if (spec.gainGradient()) {
        dgain[c] += slope * xh;
      }
      if (spec.biasGradient()) {
        dbias[c] += slope;
      }
    }
  }

  /** The same in float64, the mean in one piece. */
  static void doubles(
      GradientKernel.Spec spec,
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int r,
      int from,
      int to,
      int column,
      double[] gain,
      double[] bias,
      double[] dgain,
      double[] dbias,
      Workspace work) {
    double rstd = work.rstd[r];
    double gradient = work.meanGradient[r];
    for (int i = from; i < to; i++) {
      int c = column + i;
      double v = Memory.getDouble(spec.x(), x.base, x.offset + r * x.stride, i);
      double slope = Memory.getDouble(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
      double xh = normalised(spec, v, work.mean[r], rstd, gain, bias, c);
      double h = spec.gain() ? slope * gain[c] : slope;
      double d = ((spec.centred() ? h - gradient : h) - xh * work.meanProduct[r]) * rstd;
      if (spec.residual()) {
        long at = residual.offset + r * residual.stride;
        d += Memory.getDouble(spec.residualMemory(), residual.base, at, i);
      }
      Memory.setDouble(spec.dx(), dx.base, dx.offset + r * dx.stride, i, d);
      if (spec.gainGradient()) {
        dgain[c] += slope * xh;
      }
      if (spec.biasGradient()) {
        dbias[c] += slope;
      }
    }
  }
}
