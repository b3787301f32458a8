package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;

/** Sums of rows in plain Java: one addition an element, rounded once. */
final class ScalarSum {
  private static final SumKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), SumKernel.Spec.class);

  private ScalarSum() {}

  static void rows(
      Object left,
      long leftOffset,
      long leftStride,
      Object right,
      long rightOffset,
      long rightStride,
      int rows,
      int columns,
      Object sum) {
    for (int r = 0; r < rows; r++) {
      long a = leftOffset + r * leftStride;
      long b = rightOffset + r * rightStride;
      int to = r * columns;
      if (SPEC.float64()) {
        doubles(left, a, right, b, columns, (double[]) sum, to);
      } else {
        floats(left, a, right, b, columns, (float[]) sum, to);
      }
    }
  }

  private static void floats(
      Object left, long a, Object right, long b, int n, float[] sum, int to) {
    for (int i = 0; i < n; i++) {
      sum[to + i] =
          Memory.getFloat(SPEC.left(), left, a, i) + Memory.getFloat(SPEC.right(), right, b, i);
    }
  }

  private static void doubles(
      Object left, long a, Object right, long b, int n, double[] sum, int to) {
    for (int i = 0; i < n; i++) {
      sum[to + i] =
          Memory.getDouble(SPEC.left(), left, a, i) + Memory.getDouble(SPEC.right(), right, b, i);
    }
  }
}
