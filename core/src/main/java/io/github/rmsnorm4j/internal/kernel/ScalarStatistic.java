package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.util.Arrays;

/** Row sums in plain Java: {@link RowSum} with its lanes as loops that the JIT can vectorise. */
final class ScalarStatistic {
  private static final StatisticKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), StatisticKernel.Spec.class);
  private static final boolean FLOAT64 = SPEC.float64();
  private static final boolean CENTRED = SPEC.centred();
  private static final Memory RESIDUAL = SPEC.residual();

  /** Where the elements of the sums are read: the residual has them, if there is one. */
  private static final Memory MEMORY = RESIDUAL == null ? SPEC.memory() : RESIDUAL;

  private static final int LANES = RowSum.LANES;
  private static final int BYTES = FLOAT64 ? Double.BYTES : Float.BYTES;

  private ScalarStatistic() {}

  static void rows(Rectangle x, Rectangle residual, int rows, int width, Workspace work) {
    Rectangle summed = RESIDUAL == null ? x : residual;
    for (int r = 0; r < rows; r++) {
      if (RESIDUAL != null) {
        add(x, residual, r, width);
      }
      Object base = summed.base;
      long at = summed.offset + r * summed.stride;
      work.shift[r] = CENTRED ? element(base, at, 0) : 0.0;
      lanes(base, at, width, work.shift[r], work);
      work.squares[r] = RowSum.tree(work.totalSquares, 0);
      work.sums[r] = CENTRED ? RowSum.tree(work.totalSums, 0) : 0.0;
    }
  }

  private static void add(Rectangle x, Rectangle residual, int r, int n) {
    long from = x.offset + r * x.stride;
    long to = residual.offset + r * residual.stride;
    for (int i = 0; i < n; i++) {
      float sum =
          Memory.getFloat(SPEC.memory(), x.base, from, i)
              + Memory.getFloat(RESIDUAL, residual.base, to, i);
      Memory.setFloat(RESIDUAL, residual.base, to, i, sum);
    }
  }

  static void superBlock(Rectangle x, int length, double shift, Workspace work) {
    lanes(x.base, x.offset, length, shift, work);
    addLanes(work.rowSquares, work.totalSquares);
    if (CENTRED) {
      addLanes(work.rowSums, work.totalSums);
    }
  }

  private static double element(Object base, long offset, int i) {
    return FLOAT64
        ? Memory.getDouble(MEMORY, base, offset, i)
        : Memory.getFloat(MEMORY, base, offset, i);
  }

  /** The lanes of one super-block or less, into the totals. */
  private static void lanes(Object base, long offset, int n, double shift, Workspace work) {
    Arrays.fill(work.totalSquares, 0.0);
    Arrays.fill(work.totalSums, 0.0);
    for (int start = 0; start < n; start += RowSum.BLOCK) {
      int length = Math.min(RowSum.BLOCK, n - start);
      long at = offset + (long) start * BYTES;
      block(base, at, length, shift, work.laneSums, work.laneSquares);
      addLanes(work.totalSquares, work.laneSquares);
      if (CENTRED) {
        addLanes(work.totalSums, work.laneSums);
      }
    }
  }

  private static void block(
      Object base, long offset, int n, double shift, double[] sums, double[] squares) {
    Arrays.fill(sums, 0, LANES, 0.0);
    Arrays.fill(squares, 0, LANES, 0.0);
    for (int i = 0; i < n; i += LANES) {
      int lanes = Math.min(LANES, n - i);
      for (int j = 0; j < lanes; j++) {
        double v = element(base, offset, i + j);
        if (CENTRED) {
          v -= shift;
          sums[j] += v;
        }
        squares[j] += v * v;
      }
    }
  }

  private static void addLanes(double[] into, double[] lanes) {
    for (int j = 0; j < LANES; j++) {
      into[j] += lanes[j];
    }
  }
}
