package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/** Output rows in plain Java, by the formulas of {@link OutputRow}. */
final class ScalarOutput implements OutputKernel {
  private static final Spec SPEC = Kernels.choices(MethodHandles.lookup(), Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  ScalarOutput() {}

  @Override
  public void rows(
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
    for (int r = 0; r < rows; r++) {
      long from = inOffset + r * inStride;
      long to = outOffset + r * outStride;
      if (SPEC.float64()) {
        MemorySegment x = Memory.doubles(SPEC.in(), in, from, 8L * columns);
        MemorySegment y = Memory.doubles(SPEC.out(), out, to, 8L * columns);
        double mean = CENTRED ? work.mean[r] : 0.0;
        double rstd = work.rstd[r];
        double[] g = GAIN ? (double[]) gain : null;
        double[] b = BIAS ? (double[]) bias : null;
        OutputRow.doubles(x, 0, y, 0, 0, columns, CENTRED, mean, rstd, g, b, column);
      } else {
        MemorySegment x = Memory.floats(SPEC.in(), in, from, 4L * columns);
        MemorySegment y = Memory.floats(SPEC.out(), out, to, 4L * columns);
        double mean = CENTRED ? work.mean[r] : 0.0;
        float rstd = (float) work.rstd[r];
        float[] g = GAIN ? (float[]) gain : null;
        float[] b = BIAS ? (float[]) bias : null;
        OutputRow.floats(x, 0, y, 0, 0, columns, CENTRED, mean, rstd, g, b, column);
      }
    }
  }
}
