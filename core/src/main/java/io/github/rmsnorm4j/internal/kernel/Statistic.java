package io.github.rmsnorm4j.internal.kernel;

/**
 * From row sums to mean and rstd, by the contract: float64 throughout, and rstd rounded to the
 * arithmetic's type once.
 */
public final class Statistic {
  /** A mean from here on could overflow in float32 when taken off an element. */
  private static final double MAX_MEAN = 0x1p103;

  private Statistic() {}

  /**
   * For each row {@code rstd = 1 / sqrt(squares / n + eps)}. Plain loops, so that the JIT can
   * vectorise.
   */
  public static void rms(double[] squares, double[] rstd, int rows, long n, double epsilon) {
    for (int r = 0; r < rows; r++) {
      rstd[r] = 1.0 / Math.sqrt(squares[r] / n + epsilon);
    }
  }

  /** For each row the mean and rstd from the sums of d = x - x0 and d * d. */
  public static void centred(Workspace work, int rows, long n, double epsilon) {
    for (int r = 0; r < rows; r++) {
      double sum = work.sums[r];
      work.mean[r] = work.shift[r] + sum / n;
      double variance = Math.max(0.0, (work.squares[r] - sum * sum / n) / n);
      work.rstd[r] = 1.0 / Math.sqrt(variance + epsilon);
    }
  }

  /**
   * Rounds the float64 rstd of float32 rows to float32, up to the first row that is out of
   * float32's range.
   *
   * @return whether there is such a row; its rstd is not rounded
   */
  public static boolean roundToFloat32(Workspace work, int rows, boolean centred) {
    work.scale = 1.0;
    for (int r = 0; r < rows; r++) {
      float rounded = (float) work.rstd[r];
      boolean normal = rounded >= Float.MIN_NORMAL && rounded <= Float.MAX_VALUE;
      if (!normal || centred && Math.abs((float) work.mean[r]) >= MAX_MEAN) {
        return true;
      }
      work.rstd[r] = rounded;
    }
    return false;
  }
}
