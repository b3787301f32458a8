package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The contract's output formulas on part of a row, every operation rounded to the arithmetic's
 * type. An absent gain or bias is no operation: adding 0 would turn -0 into +0.
 *
 * <p>Where a kernel calls them, whether it is centred and has gain and bias are constants, and the
 * segments' classes are known.
 */
final class OutputRow {
  private OutputRow() {}

  /** RMSNorm {@code (x * rstd) * g + b}; centred {@code (((x - hi) - lo) * rstd) * g + b}. */
  static void floats(
      MemorySegment x,
      long xAt,
      MemorySegment y,
      long yAt,
      int from,
      int to,
      boolean centred,
      double mean,
      float rstd,
      float[] gain,
      float[] bias,
      int column) {
    float hi = (float) mean;
    float lo = (float) (mean - hi);
    for (int i = from; i < to; i++) {
      float v = x.get(ValueLayout.JAVA_FLOAT_UNALIGNED, xAt + 4L * i);
      if (centred) {
        v = (v - hi) - lo;
      }
      v *= rstd;
      if (gain != null) {
        v *= gain[column + i];
      }
      if (bias != null) {
        v += bias[column + i];
      }
      y.set(ValueLayout.JAVA_FLOAT_UNALIGNED, yAt + 4L * i, v);
    }
  }

  /** RMSNorm {@code (x * rstd) * g + b}; centred {@code ((x - mean) * rstd) * g + b}. */
  static void doubles(
      MemorySegment x,
      long xAt,
      MemorySegment y,
      long yAt,
      int from,
      int to,
      boolean centred,
      double mean,
      double rstd,
      double[] gain,
      double[] bias,
      int column) {
    for (int i = from; i < to; i++) {
      double v = x.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, xAt + 8L * i);
      if (centred) {
        v -= mean;
      }
      v *= rstd;
      if (gain != null) {
        v *= gain[column + i];
      }
      if (bias != null) {
        v += bias[column + i];
      }
      y.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, yAt + 8L * i, v);
    }
  }
}
