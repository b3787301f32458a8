package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.internal.formula.SumOrder;

/**
 * The loops over elements. Each is a method of its own, and the first rows call it for a few
 * elements at a time, so that the JIT counts enough calls to compile it within the first token of
 * an engine. In each loop all float32 arrays have one index, because the C2 of JDK 25 makes no
 * vectors of a loop that reads and writes float32 arrays at two indexes.
 */
final class PlainLoops {
  /** Rows that are done in pieces. */
  private static final int ROWS_IN_PIECES = 100;

  private static final int PIECE = 128;

  /**
   * Rows that were done in pieces. Counted without synchronisation: the exact number is no matter.
   */
  private static int rows;

  private PlainLoops() {}

  /** The number of elements that the loops of the next row do in a call: a multiple of 32. */
  static int piece() {
    if (rows >= ROWS_IN_PIECES) {
      return SumOrder.BLOCK;
    }
    rows++;
    return PIECE;
  }

  /** {@code lane[i % 32] += x[i] - shift}, from a multiple of 32 on. */
  static void add(double[] lanes, float[] x, double shift, int from, int to) {
    int i = from;
    // Four elements for each read of a lane; more or fewer are slower.
    for (; i + 4 * SumOrder.LANES <= to; i += 4 * SumOrder.LANES) {
      for (int j = 0; j < SumOrder.LANES; j++) {
        double a = x[i + j] - shift;
        double b = x[i + j + 32] - shift;
        double c = x[i + j + 64] - shift;
        double d = x[i + j + 96] - shift;
        lanes[j] = (((lanes[j] + a) + b) + c) + d;
      }
    }
    for (; i < to; i += SumOrder.LANES) {
      int end = Math.min(SumOrder.LANES, to - i);
      for (int j = 0; j < end; j++) {
        lanes[j] += x[i + j] - shift;
      }
    }
  }

  /**
   * {@code lane[i % 32] += (x[i] - shift)^2}. Without a shift it is 0, which costs no time. C2
   * makes no vectors of a loop that adds to the lanes of both sums, so they have a loop each.
   */
  static void addSquares(double[] lanes, float[] x, double shift, int from, int to) {
    int i = from;
    for (; i + 4 * SumOrder.LANES <= to; i += 4 * SumOrder.LANES) {
      for (int j = 0; j < SumOrder.LANES; j++) {
        double a = x[i + j] - shift;
        double b = x[i + j + 32] - shift;
        double c = x[i + j + 64] - shift;
        double d = x[i + j + 96] - shift;
        lanes[j] = (((lanes[j] + a * a) + b * b) + c * c) + d * d;
      }
    }
    for (; i < to; i += SumOrder.LANES) {
      int end = Math.min(SumOrder.LANES, to - i);
      for (int j = 0; j < end; j++) {
        double a = x[i + j] - shift;
        lanes[j] += a * a;
      }
    }
  }

  /** {@code sum += x}, each addition rounded to float32. */
  static void add(float[] sum, float[] x, int from, int to) {
    for (int i = from; i < to; i++) {
      sum[i] = x[i] + sum[i];
    }
  }

  /** {@code y = x * rstd * g}. */
  static void scale(float[] y, float[] x, float rstd, float[] gain, int from, int to) {
    for (int i = from; i < to; i++) {
      y[i] = x[i] * rstd * gain[i];
    }
  }

  /** {@code y = x * rstd * g + b}. */
  static void scale(
      float[] y, float[] x, float rstd, float[] gain, float[] bias, int from, int to) {
    for (int i = from; i < to; i++) {
      y[i] = x[i] * rstd * gain[i] + bias[i];
    }
  }

  /** {@code y = (x - mean) * rstd * g + b}, with the mean in two float32 numbers. */
  static void centre(
      float[] y,
      float[] x,
      float high,
      float low,
      float rstd,
      float[] gain,
      float[] bias,
      int from,
      int to) {
    for (int i = from; i < to; i++) {
      y[i] = ((x[i] - high) - low) * rstd * gain[i] + bias[i];
    }
  }
}
