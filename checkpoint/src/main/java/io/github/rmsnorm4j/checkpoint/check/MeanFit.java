package io.github.rmsnorm4j.checkpoint.check;

import java.util.function.LongToDoubleFunction;

/** Finds the mean that a system may have had, within what its sums may err. */
final class MeanFit {
  private static final double FINEST = 0x1p-20;

  private final Elements row;
  private final double[] y;
  private final double step;
  private final long reach;

  MeanFit(Elements row, double[] y) {
    this.row = row;
    this.y = y;
    double tolerance = row.meanTolerance();
    step = Math.max(row.ulp(row.mean()), tolerance * FINEST);
    reach = (long) Math.ceil(tolerance / step);
  }

  /** The mean that makes most elements equal, for a given scale. */
  double forMost(double scale) {
    Sweep sweep = new Sweep(y.length);
    for (int i = 0; i < y.length; i++) {
      sweep.add(element(i, scale), y[i], -reach, reach);
    }
    return mean(sweep.best(0));
  }

  /** A mean that makes all elements equal, for a given scale; NaN if there is none. */
  double forAll(double scale) {
    long from = -reach;
    long to = reach;
    for (int i = 0; i < y.length; i++) {
      LongToDoubleFunction at = element(i, scale);
      double first = at.applyAsDouble(from);
      double other = at.applyAsDouble(to);
      long[] within = Sweep.within(at, y[i], from, to, first, other);
      if (within == null) {
        return Double.NaN;
      }
      from = within[0];
      to = within[1];
    }
    return mean(Math.clamp(0, from, to));
  }

  private LongToDoubleFunction element(int i, double scale) {
    return k -> row.at(i, scale, mean(k));
  }

  private double mean(long k) {
    return row.rounded(row.mean() + k * step);
  }
}
