package io.github.rmsnorm4j.checkpoint.check;

/**
 * How far a system's rstd may be from the exact one, in ulp: numbers of the type of the arithmetic.
 *
 * <p>Systems add squares in float32 in orders of their own. One after the other, n additions err by
 * {@code sqrt(n) / 3} roundings (the root of their mean square), so the root of the sum errs by
 * {@code sqrt(n) / 6} ulp at most. 4.5 times that is almost never passed. Blocks and lanes err by
 * less. Four more are for the mean, for epsilon, and for a reciprocal root that is right to two
 * ulp. Where 16 rows or more show that the sums are better than that, only {@value
 * #ACCURATE_WINDOW} remain.
 */
final class Window {
  /** Of rows: so many show how accurate the sums are. */
  static final int ENOUGH_ROWS = 16;

  /** What sums in float64, and most in lanes, need. */
  static final long ACCURATE = 2;

  static final long ACCURATE_WINDOW = 6;

  /** In numbers of the row's type, where the sum itself is in that type. */
  private static final long IN_ROW_TYPE = 4;

  private static final double SPREAD = 0.75;
  private static final int OTHER_STEPS = 4;

  private Window() {}

  static long full(int width) {
    return OTHER_STEPS + (long) Math.ceil(SPREAD * Math.sqrt(width));
  }

  /** The window of a row: a mean with an error moves what rstd looks like. */
  static long of(Form form, Elements row, long usual) {
    if (form.root() == CastForm.Root.IN_ROW_TYPE) {
      return IN_ROW_TYPE;
    }
    double moved = row.meanTolerance() / row.deviation() / Rounding.unit(form.arithmetic());
    return usual + (row.findsMean() && row.deviation() > 0 ? (long) Math.ceil(moved) : 0);
  }

  /** How many of the numbers that lie between two scales count as one ulp. */
  static int unit(Form form) {
    return form.root() == CastForm.Root.IN_ROW_TYPE ? Rounding.step(form.input()) : 1;
  }
}
