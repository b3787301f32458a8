package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.LongToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The scales for which every element of a row is equal to Y: a range, because an element grows or
 * falls with the scale. The scale is rstd, or the root where the form divides by it.
 *
 * @param lo the least scale
 * @param hi the greatest; infinite if any will do
 */
record ScaleRange(double lo, double hi) {
  /** So many scales are tried with a mean of their own. */
  private static final int SCALES = 1 << 12;

  /** So many scales of a shifted form are tried, one next to the other. */
  private static final long SHIFTED_SCALES = 1 << 14;

  private static final double LEAST = 0x1p-100;

  /** The range for a row, or nothing if no scale makes all elements equal. */
  static Optional<ScaleRange> of(Form form, Elements row, double[] y) {
    double[] rstd = rstdWithin(form, row, y);
    if (rstd == null) {
      return Optional.empty();
    }
    if (Double.isInfinite(rstd[1])) {
      double centre = row.centre(1);
      boolean equal = IntStream.range(0, y.length).allMatch(i -> row.at(i, 1, centre) == y[i]);
      return equal ? Optional.of(new ScaleRange(0, rstd[1])) : Optional.empty();
    }
    double slack = form.rootType() == null ? 1 : 1 + 2 * form.rootType().unitRoundoff();
    double lo = (form.divides() ? 1 / rstd[1] : rstd[0]) / slack;
    double hi = (form.divides() ? 1 / rstd[0] : rstd[1]) * slack;
    Grid grid = Grid.at(form.float64(), lo);
    long last = grid.index(hi) + 2;
    if (form.shifts()) {
      return shifted(row, y, grid, last);
    }
    ScaleRange range = exact(row, y, grid, last, row.centre(grid.number(last / 2)));
    if (range != null || !row.findsMean()) {
      return Optional.ofNullable(range);
    }
    // The system's mean has an error of its own: find a scale and a mean that go together.
    MeanFit means = new MeanFit(row, y);
    long stride = Math.max(1, last / SCALES);
    for (long k = -2; k <= last; k += stride) {
      double centre = means.forAll(grid.number(k));
      if (!Double.isNaN(centre)) {
        return Optional.ofNullable(exact(row, y, grid, last, centre));
      }
    }
    return Optional.empty();
  }

  /**
   * An element of a shifted form does not grow steadily with the scale, because the shift depends
   * on it. The scales that fit still lie side by side: shift and scale are bounded by straight
   * lines.
   */
  private static Optional<ScaleRange> shifted(Elements row, double[] y, Grid grid, long last) {
    MeanFit shifts = new MeanFit(row, y);
    LongPredicate fits = k -> !Double.isNaN(shifts.forAll(grid.number(k)));
    long stride = Math.max(1, last / SHIFTED_SCALES);
    long lo = -2;
    while (lo <= last && !fits.test(lo)) {
      lo += stride;
    }
    if (lo > last) {
      return Optional.empty();
    }
    long hi = last;
    while (hi > lo && !fits.test(hi)) {
      hi = Math.max(lo, hi - stride);
    }
    lo = Sweep.edge(fits, lo, Math.max(-2, lo - stride));
    hi = Sweep.edge(fits, hi, Math.min(last, hi + stride));
    return Optional.of(new ScaleRange(grid.number(lo), grid.number(hi)));
  }

  /**
   * Where rstd must be, from the ratios of Y to the row times the gain: each is right but for so
   * many roundings. Null if two ratios exclude each other, which is seen without any rounding.
   */
  private static double[] rstdWithin(Form form, Elements row, double[] y) {
    double unit = relativeError(form);
    double tiny = form.output().minValue();
    double tinyCast = form.cast() == null ? 0 : form.cast().minValue();
    double greatest = row.deviation() > 0 ? 1 / row.deviation() : 0;
    double shift = form.shifts() ? 3 * ElementType.FLOAT32.unitRoundoff() : 0;
    double meanError = row.meanTolerance();
    double lo = LEAST;
    double hi = Double.POSITIVE_INFINITY;
    for (int i = 0; i < y.length; i++) {
      double bias = row.bias(i);
      double target = y[i] - bias;
      double lost = meanError + shift * (Math.abs(row.value(i)) + row.mean());
      double gain = Math.abs(row.gain(i));
      double error =
          unit * (Math.abs(target) + 2 * Math.abs(bias))
              + tiny
              + tinyCast * gain
              + lost * gain * greatest;
      double direction = row.direction(i);
      double sign = direction < 0 ? -1 : 1;
      if (direction == 0) {
        if (Math.abs(target) > error) {
          return null;
        }
      } else {
        lo = Math.max(lo, (sign * target - error) / (sign * direction));
        hi = Math.min(hi, (sign * target + error) / (sign * direction));
      }
      if (lo > hi) {
        return null;
      }
    }
    return new double[] {lo, hi};
  }

  private static double relativeError(Form form) {
    double error = form.output().unitRoundoff() + 8 * form.arithmetic().unitRoundoff();
    error += form.cast() == null ? 0 : form.cast().unitRoundoff();
    error += form.product() == null ? 0 : form.product().unitRoundoff();
    return error * 1.05;
  }

  /** Narrows the range element by element; null as soon as nothing is left. */
  private static ScaleRange exact(Elements row, double[] y, Grid grid, long last, double centre) {
    long from = -2;
    long to = last;
    for (int i = 0; i < y.length; i++) {
      double first = row.at(i, grid.number(from), centre);
      double other = row.at(i, grid.number(to), centre);
      if (first == y[i] && other == y[i]) {
        continue;
      }
      int element = i;
      LongToDoubleFunction at = k -> row.at(element, grid.number(k), centre);
      long[] within = Sweep.within(at, y[i], from, to, first, other);
      if (within == null) {
        return null;
      }
      from = within[0];
      to = within[1];
    }
    return new ScaleRange(grid.number(from), grid.number(to));
  }

  boolean any() {
    return Double.isInfinite(hi);
  }

  /** How many numbers of the type lie between a scale and the range; 0 if it is in the range. */
  long distance(boolean float64, double scale) {
    if (any() || scale >= lo && scale <= hi) {
      return 0;
    }
    Grid grid = Grid.at(float64, scale);
    return Math.abs(scale < lo ? grid.index(lo) : grid.index(hi));
  }
}
