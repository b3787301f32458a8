package io.github.rmsnorm4j;

import org.jspecify.annotations.Nullable;

/**
 * The rstd of each row, and of LayerNorm the mean: what {@link Norm#statistics(Rows,
 * RowStatistics)} computes and {@link Norm#apply(Rows, RowStatistics, Rows)} takes. A norm of
 * groups has a number for each group, row after row.
 *
 * <p>It refers to arrays of the caller, which may be longer than a call needs. Calls of several
 * threads may read the same arrays at once, but not write them.
 */
public final class RowStatistics {
  private final double @Nullable [] mean;
  private final double[] rstd;

  private RowStatistics(double @Nullable [] mean, double[] rstd) {
    this.mean = mean;
    this.rstd = rstd;
  }

  /**
   * {@return statistics of RMSNorm or of an L2 norm, which have no mean}
   *
   * @param rstd an element for each row; not copied
   */
  public static RowStatistics of(double[] rstd) {
    return new RowStatistics(null, NormArguments.requireNonNull(rstd, "rstd"));
  }

  /**
   * {@return statistics of LayerNorm}
   *
   * @param mean an element for each row; not copied
   * @param rstd another array with an element for each row; not copied
   * @throws IllegalArgumentException if both are one array
   */
  public static RowStatistics of(double[] mean, double[] rstd) {
    NormArguments.requireNonNull(mean, "mean");
    NormArguments.requireNonNull(rstd, "rstd");
    CallOperands.requireApart(CallOperand.MEAN, mean, CallOperand.RSTD, rstd);
    return new RowStatistics(mean, rstd);
  }

  /** {@return the mean of each row, the array itself; null without means} */
  public double @Nullable [] mean() {
    return mean;
  }

  /** {@return the rstd of each row, the array itself} */
  public double[] rstd() {
    return rstd;
  }
}
