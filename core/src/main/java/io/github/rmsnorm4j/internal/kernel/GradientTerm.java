package io.github.rmsnorm4j.internal.kernel;

/**
 * The terms that a backward pass sums over a row, element by element, each operation rounded to the
 * arithmetic's type; they are added up in float64.
 *
 * <p>The product's is {@code (dy * g) * xh}, and from the output {@code dy * (y - b)}, which is the
 * same without a division; the gradient's is {@code dy * g}.
 */
final class GradientTerm {
  private GradientTerm() {}

  static double product(
      GradientSumKernel.Spec spec,
      Rectangle x,
      Rectangle dy,
      int r,
      int i,
      int column,
      Object gain,
      Object bias,
      Workspace work) {
    if (spec.float64()) {
      double v = Memory.getDouble(spec.x(), x.base, x.offset + r * x.stride, i);
      double slope = Memory.getDouble(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
      if (spec.fromOutput()) {
        return slope * (spec.bias() ? v - ((double[]) bias)[column + i] : v);
      }
      double xh = (spec.centred() ? v - work.mean[r] : v) * work.rstd[r];
      return (spec.gain() ? slope * ((double[]) gain)[column + i] : slope) * xh;
    }
    float v = Memory.getFloat(spec.x(), x.base, x.offset + r * x.stride, i);
    float slope = Memory.getFloat(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
    if (spec.fromOutput()) {
      float scaled = spec.bias() ? v - ((float[]) bias)[column + i] : v;
      return slope * scaled;
    }
    float hi = (float) work.mean[r];
    float lo = (float) (work.mean[r] - hi);
    float xh = (spec.centred() ? (v - hi) - lo : v) * (float) work.rstd[r];
    float h = spec.gain() ? slope * ((float[]) gain)[column + i] : slope;
    return h * xh;
  }

  static double gradient(
      GradientSumKernel.Spec spec, Rectangle dy, int r, int i, int column, Object gain) {
    if (spec.float64()) {
      double slope = Memory.getDouble(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
      return spec.gain() ? slope * ((double[]) gain)[column + i] : slope;
    }
    float slope = Memory.getFloat(spec.dy(), dy.base, dy.offset + r * dy.stride, i);
    return spec.gain() ? slope * ((float[]) gain)[column + i] : slope;
  }
}
