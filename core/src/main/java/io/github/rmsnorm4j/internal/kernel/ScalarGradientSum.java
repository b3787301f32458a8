package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.util.Arrays;

/** Row sums of a backward pass in plain Java: {@link RowSum} with the terms of a gradient. */
final class ScalarGradientSum {
  private static final GradientSumKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientSumKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final int LANES = RowSum.LANES;

  private ScalarGradientSum() {}

  static void rows(
      Rectangle x,
      Rectangle dy,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    for (int r = 0; r < rows; r++) {
      lanes(x, dy, r, column, columns, gain, bias, work);
      work.squares[r] = RowSum.tree(work.totalSquares, 0);
      work.sums[r] = CENTRED ? RowSum.tree(work.totalSums, 0) : 0.0;
    }
  }

  static void superBlock(
      Rectangle x,
      Rectangle dy,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    lanes(x, dy, 0, column, columns, gain, bias, work);
    for (int j = 0; j < LANES; j++) {
      work.rowSquares[j] += work.totalSquares[j];
      work.rowSums[j] += work.totalSums[j];
    }
  }

  /** The lanes of one super-block or less, into the totals. */
  private static void lanes(
      Rectangle x,
      Rectangle dy,
      int r,
      int column,
      int n,
      Object gain,
      Object bias,
      Workspace work) {
    Arrays.fill(work.totalSquares, 0, LANES, 0.0);
    Arrays.fill(work.totalSums, 0, LANES, 0.0);
    for (int start = 0; start < n; start += RowSum.BLOCK) {
      int end = Math.min(start + RowSum.BLOCK, n);
      Arrays.fill(work.laneSquares, 0, LANES, 0.0);
      Arrays.fill(work.laneSums, 0, LANES, 0.0);
      for (int i = start; i < end; i++) {
        int j = i % LANES;
        work.laneSquares[j] += GradientTerm.product(SPEC, x, dy, r, i, column, gain, bias, work);
        if (CENTRED) {
          work.laneSums[j] += GradientTerm.gradient(SPEC, dy, r, i, column, gain);
        }
      }
      for (int j = 0; j < LANES; j++) {
        work.totalSquares[j] += work.laneSquares[j];
        work.totalSums[j] += work.laneSums[j];
      }
    }
  }
}
