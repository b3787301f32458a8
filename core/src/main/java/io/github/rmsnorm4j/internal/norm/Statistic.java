package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.internal.kernel.RootKernel;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * From row sums to mean, root and rstd, by the contract: float64 throughout, and rounded to the
 * arithmetic's type once.
 *
 * @param centred whether sums are of differences from a row's shift
 * @param divides whether rows are divided by their root, which then must be a float32 number too
 * @param kernel does it for float32 rows; null without vectors, and in float64
 */
record Statistic(
    boolean centred,
    boolean divides,
    double epsilon,
    EpsilonPlacement placement,
    RootKernel kernel) {

  /** That of a norm. */
  static Statistic of(NormChoices norm, boolean divides, boolean float64) {
    boolean vectors = norm.vectorBits() > 0 && !float64;
    RootKernel.Spec spec =
        new RootKernel.Spec(norm.vectorBits(), norm.centred(), divides, norm.placement());
    RootKernel kernel = vectors ? RootKernel.of(spec) : null;
    return new Statistic(norm.centred(), divides, norm.epsilon(), norm.placement(), kernel);
  }

  /** A mean from here on could overflow in float32 when taken off an element. */
  private static final double MAX_MEAN = 0x1p103;

  /** For each row of n elements the root and rstd, and the mean. */
  void of(Workspace work, int rows, long n) {
    if (kernel != null) {
      kernel.rows(work, rows, n, epsilon);
      return;
    }
    double[] root = work.root;
    double[] rstd = work.rstd;
    meanSquares(work, rows, n);
    roots(root, rows);
    for (int r = 0; r < rows; r++) {
      rstd[r] = 1.0 / root[r];
    }
  }

  /** To the roots' place; plain loops, so that the JIT can vectorise. */
  private void meanSquares(Workspace work, int rows, long n) {
    double[] squares = work.squares;
    double[] root = work.root;
    if (!centred) {
      for (int r = 0; r < rows; r++) {
        root[r] = squares[r] / n;
      }
      return;
    }
    double[] sums = work.sums;
    double[] shift = work.shift;
    double[] mean = work.mean;
    for (int r = 0; r < rows; r++) {
      double sum = sums[r];
      mean[r] = shift[r] + sum / n;
      root[r] = Math.max(0.0, (squares[r] - sum * sum / n) / n);
    }
  }

  /** From mean squares to roots in place. Plain loops, so that the JIT can vectorise. */
  private void roots(double[] root, int rows) {
    switch (placement) {
      case INSIDE -> {
        for (int r = 0; r < rows; r++) {
          root[r] = Math.sqrt(root[r] + epsilon);
        }
      }
      case OUTSIDE -> {
        for (int r = 0; r < rows; r++) {
          root[r] = Math.sqrt(root[r]) + epsilon;
        }
      }
      case FLOOR -> {
        for (int r = 0; r < rows; r++) {
          root[r] = Math.max(Math.sqrt(root[r]), epsilon);
        }
      }
    }
  }

  /** The root of a row whose elements were multiplied by a power of two, so multiplied too. */
  double root(double meanSquare, double scale) {
    return switch (placement) {
      case INSIDE -> Math.sqrt(meanSquare + epsilon * scale * scale);
      case OUTSIDE -> Math.sqrt(meanSquare) + epsilon * scale;
      case FLOOR -> Math.max(Math.sqrt(meanSquare), epsilon * scale);
    };
  }

  /**
   * Rounds the float64 rstd and root of float32 rows to float32, unless one of them is out of
   * float32's range.
   *
   * @return whether one is; then nothing is rounded
   */
  boolean roundToFloat32(Workspace work, int rows) {
    work.scale = 1.0;
    if (kernel != null) {
      return kernel.round(work, rows);
    }
    for (int r = 0; r < rows; r++) {
      boolean inRange = isNormal((float) work.rstd[r]);
      inRange &= !divides || isNormal((float) work.root[r]);
      inRange &= !centred || !(Math.abs((float) work.mean[r]) >= MAX_MEAN);
      if (!inRange) {
        return true;
      }
    }
    for (int r = 0; r < rows; r++) {
      work.rstd[r] = (float) work.rstd[r];
      work.root[r] = divides ? (float) work.root[r] : work.root[r];
    }
    return false;
  }

  private static boolean isNormal(float value) {
    return value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE;
  }
}
