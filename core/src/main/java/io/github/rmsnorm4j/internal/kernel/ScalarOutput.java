package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;

/** Output rows in plain Java, by the formulas of {@link OutputRow}. */
final class ScalarOutput {
  private static final OutputKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), OutputKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final Scaling SCALING = SPEC.scaling();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  private ScalarOutput() {}

  static void rows(
      Object in,
      long inOffset,
      long inStride,
      Object out,
      long outOffset,
      long outStride,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    double[] by = SCALING == Scaling.DIVIDED ? work.root : work.rstd;
    for (int r = 0; r < rows; r++) {
      long from = inOffset + r * inStride;
      long to = outOffset + r * outStride;
      if (SPEC.float64()) {
        double[] g = (double[]) gain;
        double[] b = (double[]) bias;
        doubles(in, from, out, to, columns, work.mean[r], by[r], g, b, column);
      } else {
        float[] g = (float[]) gain;
        float[] b = (float[]) bias;
        floats(in, from, out, to, columns, work.mean[r], (float) by[r], g, b, column);
      }
    }
  }

  private static void floats(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      float by,
      float[] gain,
      float[] bias,
      int column) {
    float hi = (float) mean;
    float lo = (float) (mean - hi);
    float[] g = GAIN ? gain : null;
    float[] b = BIAS ? bias : null;
    OutputRow.floats(
        SPEC.in(), in, from, SPEC.out(), out, to, 0, n, CENTRED, SCALING, hi, lo, by, g, b, column);
  }

  private static void doubles(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      double by,
      double[] gain,
      double[] bias,
      int column) {
    double[] g = GAIN ? gain : null;
    double[] b = BIAS ? bias : null;
    OutputRow.doubles(
        SPEC.in(), in, from, SPEC.out(), out, to, 0, n, CENTRED, SCALING, mean, by, g, b, column);
  }
}
