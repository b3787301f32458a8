package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;

/** Gradients of rows in plain Java, by the formulas of {@link GradientRow}. */
final class ScalarGradient {
  private static final GradientKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientKernel.Spec.class);

  private ScalarGradient() {}

  static void rows(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Object dgain,
      Object dbias,
      Workspace work) {
    for (int r = 0; r < rows; r++) {
      if (SPEC.float64()) {
        double[] g = (double[]) gain;
        double[] b = (double[]) bias;
        double[] dg = (double[]) dgain;
        double[] db = (double[]) dbias;
        GradientRow.doubles(SPEC, x, dy, dx, residual, r, 0, columns, column, g, b, dg, db, work);
      } else {
        float[] g = (float[]) gain;
        float[] b = (float[]) bias;
        float[] dg = (float[]) dgain;
        float[] db = (float[]) dbias;
        GradientRow.floats(SPEC, x, dy, dx, residual, r, 0, columns, column, g, b, dg, db, work);
      }
    }
  }
}
