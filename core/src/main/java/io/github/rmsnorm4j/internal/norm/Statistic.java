package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/**
 * From row sums to mean, root and rstd, by the contract: float64 throughout, and rounded to the
 * arithmetic's type once.
 *
 * @param centred whether sums are of differences from a row's shift
 * @param divides whether rows are divided by their root, which then must be a float32 number too
 */
record Statistic(boolean centred, boolean divides, double epsilon, EpsilonPlacement placement) {
  /** A mean from here on could overflow in float32 when taken off an element. */
  private static final double MAX_MEAN = 0x1p103;

  /** For each row of n elements the root and rstd, and the mean. */
  void of(Workspace work, int rows, long n) {
    if (centred) {
      for (int r = 0; r < rows; r++) {
        double sum = work.sums[r];
        work.mean[r] = work.shift[r] + sum / n;
        work.root[r] = Math.max(0.0, (work.squares[r] - sum * sum / n) / n);
      }
    } else {
      for (int r = 0; r < rows; r++) {
        work.root[r] = work.squares[r] / n;
      }
    }
    roots(work.root, rows);
    for (int r = 0; r < rows; r++) {
      work.rstd[r] = 1.0 / work.root[r];
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
   * Rounds the float64 rstd and root of float32 rows to float32, up to the first row that is out of
   * float32's range.
   *
   * @return whether there is such a row; it is not rounded
   */
  boolean roundToFloat32(Workspace work, int rows) {
    work.scale = 1.0;
    for (int r = 0; r < rows; r++) {
      float rounded = (float) work.rstd[r];
      boolean normal = isNormal(rounded);
      if (!normal || centred && Math.abs((float) work.mean[r]) >= MAX_MEAN) {
        return true;
      }
      if (divides) {
        float root = (float) work.root[r];
        if (!isNormal(root)) {
          return true;
        }
        work.root[r] = root;
      }
      work.rstd[r] = rounded;
    }
    return false;
  }

  private static boolean isNormal(float value) {
    return value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE;
  }
}
