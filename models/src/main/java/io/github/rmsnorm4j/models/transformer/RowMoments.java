package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The mean and the mean square of a row of the residual stream, as a {@link DepthObserver} sees it.
 *
 * @param mean of its elements
 * @param meanSquare mean of their squares
 */
public record RowMoments(double mean, double meanSquare) {
  /**
   * {@return the moments of a row, computed in float64}
   *
   * @param stream float32 rows
   * @param row which, from 0 on
   * @param width elements per row
   * @throws IndexOutOfBoundsException if there is no such row
   */
  public static RowMoments of(MemorySegment stream, long row, int width) {
    double mean = 0;
    double square = 0;
    for (int i = 0; i < width; i++) {
      double value = stream.getAtIndex(ValueLayout.JAVA_FLOAT, row * width + i);
      mean += value / width;
      square += value * value / width;
    }
    return new RowMoments(mean, square);
  }

  /** {@return the root mean square, which RMSNorm divides by} */
  public double rms() {
    return Math.sqrt(meanSquare);
  }

  /**
   * {@return the part of the mean square that the mean makes up, which LayerNorm takes away: rho =
   * mean^2 / mean square, 0 to 1; 0 for a row of zeros}
   */
  public double rho() {
    return meanSquare == 0 ? 0 : mean * mean / meanSquare;
  }
}
