package io.github.rmsnorm4j.models.check;

/**
 * How far a system's rstd may be from the exact one, in ulp: numbers of the compute type.
 *
 * <p>Systems add squares in float32 in orders of their own. The worst order is one after the other.
 * Its n roundings err by {@code sqrt(n) / 3} units in the sum (root of the mean square), so by
 * {@code sqrt(n) / 6} ulp in rstd; 4.5 times that is almost never passed. Squares of 16-bit numbers
 * have few digits, so their roundings are not independent: in 100 rows of up to 16,384 elements the
 * greatest error was {@code 3.06 sqrt(n)}. Blocks and lanes err by less. Four more ulp are for the
 * mean, for epsilon, and for a reciprocal root that is right to two ulp.
 *
 * <p>Where 16 rows or more show that the sums of a system are accurate, {@value #NEAR} ulp remain.
 * Only rows and results of 32 or 64 bits show that: those of 16 bits leave too wide a range.
 */
final class Window {
  /** So many rows show how accurate the sums are. */
  static final int ENOUGH_ROWS = 16;

  /** What sums in float64, and most in lanes, need. */
  static final long ACCURATE = 2;

  /** What all but sums in one long chain need. */
  static final long NEAR = 6;

  /** No limit but that of the types. */
  static final long FULL = Long.MAX_VALUE;

  /** In numbers of the row's type, where the sum itself is in that type. */
  private static final long IN_ROW_TYPE = 4;

  private static final double SPREAD = 0.75;
  private static final double SPREAD_OF_NARROW = 3.1;
  private static final int OTHER_STEPS = 4;

  private Window() {}

  /** For a width, where it is not limited further. */
  static long full(Form form, int width) {
    double spread = Types.narrow(form.input()) ? SPREAD_OF_NARROW : SPREAD;
    return OTHER_STEPS + (long) Math.ceil(spread * Math.sqrt(width));
  }

  /** The window of a row: a mean with an error moves what rstd looks like. */
  static long of(Form form, Elements row, long limit) {
    if (form.root() == CastForm.Root.IN_ROW_TYPE) {
      return IN_ROW_TYPE;
    }
    long full = full(form, row.width());
    long usual = showsAccuracy(form) ? Math.min(limit, full) : full;
    double moved = row.meanTolerance() / row.deviation() / form.arithmetic().unitRoundoff();
    return usual + (row.findsMean() && row.deviation() > 0 ? (long) Math.ceil(moved) : 0);
  }

  /** Whether rows of this form show how accurate the sums are. */
  static boolean showsAccuracy(Form form) {
    return form.root() == CastForm.Root.EXACT
        && !Types.narrow(form.input())
        && !Types.narrow(form.output());
  }

  /** How many of the numbers that lie between two scales count as one ulp. */
  static int unit(Form form) {
    return form.root() == CastForm.Root.IN_ROW_TYPE ? LastPlace.step(form.input()) : 1;
  }
}
