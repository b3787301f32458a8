package io.github.rmsnorm4j.internal.kernel;

/** The second half of a norm: every element scaled by its row's statistic, and gain and bias. */
public interface OutputKernel {
  /** What a kernel of this kind is specialised on. */
  record Spec(
      boolean float64,
      int vectorBits,
      Memory in,
      Memory out,
      boolean centred,
      boolean gain,
      boolean bias) {}

  /**
   * Writes a rectangle of rows: row r with {@code work.rstd[r]} and, if centred, {@code
   * work.mean[r]}.
   *
   * @param column the rectangle's first column, where its gain and bias begin
   * @param gain float[] or double[] by the arithmetic's type, null without a gain
   * @param bias likewise
   */
  void rows(
      Object in,
      long inOffset,
      long inStride,
      Object out,
      long outOffset,
      long outStride,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work);
}
