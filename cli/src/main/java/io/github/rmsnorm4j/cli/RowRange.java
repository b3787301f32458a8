package io.github.rmsnorm4j.cli;

/**
 * Rows as Python's slices have them: {@code FROM:TO}, without TO, either left out or counted from
 * the end if negative; what is beyond the rows there are is left out. One number is one row.
 */
record RowRange(Long first, Long end) {
  static RowRange parse(String text) {
    int colon = text.indexOf(':');
    if (colon >= 0) {
      return new RowRange(
          number(text.substring(0, colon), text), number(text.substring(colon + 1), text));
    }
    Long row = number(text, text);
    if (row == null) {
      throw wrong(text);
    }
    return new RowRange(row, row == -1 ? null : Long.valueOf(row + 1));
  }

  private static Long number(String part, String text) {
    try {
      return part.isEmpty() ? null : Long.valueOf(part);
    } catch (NumberFormatException _) {
      throw wrong(text);
    }
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException(
        "--rows: '" + text + "' is no range of rows such as 0:4, 10: or -4:");
  }

  long from(long rows) {
    return first == null ? 0 : within(first, rows);
  }

  long to(long rows) {
    return end == null ? rows : within(end, rows);
  }

  private static long within(long row, long rows) {
    return Math.clamp(row < 0 ? row + rows : row, 0, rows);
  }
}
