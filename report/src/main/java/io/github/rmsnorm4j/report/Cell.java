package io.github.rmsnorm4j.report;

import java.util.Objects;

/**
 * What stands in one field of a {@link Table}. Immutable.
 *
 * @param text what is shown
 * @param mark how it is marked
 */
public record Cell(String text, Mark mark) {
  /** How a cell stands out. In colour and in weight, so that it does in print as well. */
  public enum Mark {
    /** It does not. */
    NONE,
    /** As what was hoped for. */
    GOOD,
    /** As what was not. */
    BAD
  }

  /**
   * Checks that nothing is missing.
   *
   * @param text what is shown
   * @param mark how it is marked
   */
  public Cell {
    Objects.requireNonNull(text, "text");
    Objects.requireNonNull(mark, "mark");
  }

  /**
   * {@return a cell that does not stand out}
   *
   * @param text what is shown
   */
  public static Cell of(String text) {
    return new Cell(text, Mark.NONE);
  }

  /**
   * {@return a cell, which does not stand out, of a number to four significant digits, a dash for
   * NaN}
   *
   * @param value the number
   */
  public static Cell of(double value) {
    return of(Printed.number(value));
  }

  /** {@return the same text, marked as good} */
  public Cell good() {
    return new Cell(text, Mark.GOOD);
  }

  /** {@return the same text, marked as bad} */
  public Cell bad() {
    return new Cell(text, Mark.BAD);
  }
}
