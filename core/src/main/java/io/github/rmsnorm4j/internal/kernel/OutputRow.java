package io.github.rmsnorm4j.internal.kernel;

/**
 * The contract's output formulas on part of a row, every operation rounded to the arithmetic's
 * type. An absent gain or bias is no operation: adding 0 would turn -0 into +0.
 */
final class OutputRow {
  private OutputRow() {}

  /**
   * RMSNorm {@code (x * rstd) * g + b}; centred {@code (((x - hi) - lo) * rstd) * g + b}. By is
   * rstd, or the root where rows are divided.
   */
  static void floats(
      Memory inMemory,
      Object in,
      long inOffset,
      Memory outMemory,
      Object out,
      long outOffset,
      int from,
      int to,
      boolean centred,
      Scaling scaling,
      float hi,
      float lo,
      float by,
      float[] gain,
      float[] bias,
      int column) {
    for (int i = from; i < to; i++) {
      float v = Memory.getFloat(inMemory, in, inOffset, i);
      if (centred) {
        v = (v - hi) - lo;
      }
      v = scaling == Scaling.MULTIPLIED ? v * by : scaling == Scaling.DIVIDED ? v / by : v;
      if (gain != null) {
        v *= gain[column + i];
      }
      if (bias != null) {
        v += bias[column + i];
      }
      Memory.setFloat(outMemory, out, outOffset, i, v);
    }
  }

  /** The same in float64, the mean in one piece. */
  static void doubles(
      Memory inMemory,
      Object in,
      long inOffset,
      Memory outMemory,
      Object out,
      long outOffset,
      int from,
      int to,
      boolean centred,
      Scaling scaling,
      double mean,
      double by,
      double[] gain,
      double[] bias,
      int column) {
    for (int i = from; i < to; i++) {
      double v = Memory.getDouble(inMemory, in, inOffset, i);
      if (centred) {
        v -= mean;
      }
      v = scaling == Scaling.MULTIPLIED ? v * by : scaling == Scaling.DIVIDED ? v / by : v;
      if (gain != null) {
        v *= gain[column + i];
      }
      if (bias != null) {
        v += bias[column + i];
      }
      Memory.setDouble(outMemory, out, outOffset, i, v);
    }
  }
}
