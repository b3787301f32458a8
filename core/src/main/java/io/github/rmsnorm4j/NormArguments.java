package io.github.rmsnorm4j;

import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * What a norm may be given. The one door: shapes, overlap and access are checked here, once, and
 * the kernels beneath trust it.
 */
final class NormArguments {
  private NormArguments() {}

  static void check(int width, Rows x, Rows gain, Rows bias, Rows y, double[] mean, double[] rstd) {
    requireWidth(x, width, "x");
    requireWidth(y, width, "y");
    if (x.rows() != y.rows()) {
      throw new IllegalArgumentException(
          "y has " + y.rows() + " rows, x has " + x.rows() + ": they must be the same");
    }
    if (y.segment().isReadOnly()) {
      throw new IllegalArgumentException("y is read-only, it must be writable");
    }
    requireAccess(x, "x");
    requireAccess(y, "y");
    if (Overlap.any(x, y) && !Overlap.isInPlace(x, y)) {
      throw new IllegalArgumentException(
          "rows of y overlap rows of x: they must be the same rows, or share no memory");
    }
    checkParameter(gain, width, y, "gain");
    checkParameter(bias, width, y, "bias");
    checkStatistics(x, y, mean, "mean");
    checkStatistics(x, y, rstd, "rstd");
    if (mean != null && mean == rstd) {
      throw new IllegalArgumentException("mean and rstd are one array: each needs its own");
    }
  }

  private static void checkParameter(Rows parameter, int width, Rows y, String name) {
    if (parameter == null) {
      return;
    }
    if (parameter.rows() != 1 || parameter.width() != width) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s has %d x %d elements, the rows are %d wide",
              name,
              parameter.rows(),
              parameter.width(),
              width));
    }
    requireAccess(parameter, name);
    if (Overlap.any(parameter, y)) {
      throw new IllegalArgumentException(
          name + " overlaps y: it would be overwritten while in use");
    }
  }

  private static void checkStatistics(Rows x, Rows y, double[] values, String name) {
    if (values == null) {
      return;
    }
    if (values.length < x.rows()) {
      throw new IllegalArgumentException(
          name + " has room for " + values.length + " rows, there are " + x.rows());
    }
    if (Overlap.any(x, values) || Overlap.any(y, values)) {
      throw new IllegalArgumentException(name + " overlaps x or y: it must be an array of its own");
    }
  }

  private static void requireWidth(Rows rows, int width, String name) {
    if (requireNonNull(rows, name).width() != width) {
      throw new IllegalArgumentException(
          name + " has rows " + rows.width() + " wide, the norm is " + width + " wide");
    }
  }

  static Rows requireNonNull(Rows rows, String name) {
    if (rows == null) {
      throw new NullPointerException(name + " is null");
    }
    return rows;
  }

  static void requireAccess(Rows rows, String name) {
    MemorySegment segment = rows.segment();
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException(name + " is in memory that has been closed");
    }
    if (!segment.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException(name + " is in memory that is confined to another thread");
    }
  }

  static void requireLength(int length, int width, String name) {
    if (length != width) {
      throw new IllegalArgumentException(
          name + " has " + length + " elements, the rows are " + width + " wide");
    }
  }

  static void requireSameLength(int x, int y) {
    if (x != y) {
      throw new IllegalArgumentException(
          "y has " + y + " elements, x has " + x + ": they must be the same");
    }
  }
}
