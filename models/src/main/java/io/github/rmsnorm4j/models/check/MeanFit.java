package io.github.rmsnorm4j.models.check;

import java.util.function.LongToDoubleFunction;

/** Finds the mean that a system may have had, or its shift, within what its sums may err. */
final class MeanFit {
  private final Elements row;
  private final double[] y;

  /** The element that excluded the last scale: it is tried first, as it excludes many. */
  private int strict;

  MeanFit(Elements row, double[] y) {
    this.row = row;
    this.y = y;
  }

  /** Centres that a system may have had with a scale: all numbers of the arithmetic. */
  private final class Centres {
    final double scale;
    final long exact;
    final long from;
    final long to;

    Centres(double scale) {
      this.scale = scale;
      double centre = row.centre(scale);
      double tolerance = row.centreTolerance(scale);
      exact = row.ordinal(centre);
      from = row.ordinal(centre - tolerance);
      to = row.ordinal(centre + tolerance);
    }

    LongToDoubleFunction element(int i) {
      return k -> row.at(i, scale, row.ofOrdinal(k));
    }
  }

  /** The centre that makes most elements equal, for a given scale. */
  double forMost(double scale) {
    Centres centres = new Centres(scale);
    Sweep sweep = new Sweep(y.length);
    for (int i = 0; i < y.length; i++) {
      sweep.add(centres.element(i), y[i], centres.from, centres.to);
    }
    return row.ofOrdinal(sweep.best(centres.exact));
  }

  /** A centre that makes all elements equal, for a given scale; NaN if there is none. */
  double forAll(double scale) {
    Centres centres = new Centres(scale);
    long from = centres.from;
    long to = centres.to;
    for (int k = 0; k < y.length; k++) {
      int i = (strict + k) % y.length;
      LongToDoubleFunction at = centres.element(i);
      double first = at.applyAsDouble(from);
      double other = at.applyAsDouble(to);
      long[] within = Sweep.within(at, y[i], from, to, first, other);
      if (within == null) {
        strict = i;
        return Double.NaN;
      }
      from = within[0];
      to = within[1];
    }
    return row.ofOrdinal(Math.clamp(centres.exact, from, to));
  }
}
