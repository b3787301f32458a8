package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.ElementType;
import java.util.Locale;

/** The memory that rows at a stride reach over, on the processor and on a device. */
public final class RowSpan {
  private RowSpan() {}

  /**
   * Checks the shape of rows, and that memory has room for them.
   *
   * @param there bytes of the memory from the first element on
   * @return bytes from the first element to the end of the last
   */
  public static long check(long rows, int width, long rowStride, ElementType type, long there) {
    requireShape(rows, width);
    if (rowStride < width) {
      throw new IllegalArgumentException(
          "rowStride is " + rowStride + ", it must be at least the width, " + width);
    }
    long bytes = bytes(rows, width, rowStride, type.bytes());
    if (bytes < 0 || bytes > there) {
      throw new IndexOutOfBoundsException(
          String.format(
              Locale.ROOT,
              "%d rows of %d %s elements at a stride of %d need %s bytes, there are %d",
              rows,
              width,
              type,
              rowStride,
              bytes < 0 ? "over 2^63" : bytes,
              there));
    }
    return bytes;
  }

  /** Refuses rows without elements, and fewer than no rows. */
  public static void requireShape(long rows, int width) {
    if (width < 1) {
      throw new IllegalArgumentException("width is " + width + ", it must be at least 1");
    }
    if (rows < 0) {
      throw new IllegalArgumentException("rows is " + rows + ", it must be at least 0");
    }
  }

  /** Bytes from the first element of rows to the end of the last; -1 if a long cannot hold them. */
  public static long bytes(long rows, long width, long rowStride, int ofElement) {
    if (rows == 0) {
      return 0;
    }
    try {
      long elements = Math.addExact(Math.multiplyExact(rows - 1, rowStride), width);
      return Math.multiplyExact(elements, (long) ofElement);
    } catch (ArithmeticException e) {
      return -1;
    }
  }
}
