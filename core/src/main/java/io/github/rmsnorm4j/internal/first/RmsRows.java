package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.internal.formula.SumOrder;

/**
 * RMSNorm {@code y = x * rstd * g + b}, {@code rstd = 1 / sqrt(rowsum(x^2) / n + eps)}, and the L2
 * norm, whose sum is not divided.
 */
final class RmsRows {
  /** Rows of whole 32s of at most this width are summed without lanes in memory. */
  private static final int SUMMED_AS_NARROW = 512;

  /** Rows of at most this width are not copied. */
  private static final int NOT_COPIED = 256;

  private RmsRows() {}

  /** Normalises a row at the start of arrays, which may be the same. */
  static void normalise(FirstTier norm, Lanes lanes, float[] x, float[] gain, float[] y) {
    int width = norm.width;
    float[] bias = norm.bias;
    // Written out: the JIT compiles a method with a loop after 600 calls, others after 5,000.
    for (int j = 0; j < SumOrder.LANES; j++) {
      lanes.block[j] = 0;
      lanes.total[j] = 0;
    }
    int piece = PlainLoops.piece();
    boolean narrow = width <= SUMMED_AS_NARROW && width % SumOrder.LANES == 0;
    double squares =
        narrow ? Lanes.narrowSquares(x, 0, width) : lanes.sum(x, 0, true, width, piece);
    double rstd = norm.rstd(squares / norm.divisor);
    if (!FirstTier.isNormal((float) rstd)) {
      inFloat64(norm, x, 0, gain, y, 0, rstd);
      return;
    }
    for (int i = 0; i < width; i += piece) {
      int end = Math.min(width, i + piece);
      if (bias == null) {
        PlainLoops.scale(y, x, (float) rstd, gain, i, end);
      } else {
        PlainLoops.scale(y, x, (float) rstd, gain, bias, i, end);
      }
    }
  }

  /** Whether a row is so narrow that copies to the start of an array take longer than they save. */
  static boolean isNarrow(int width) {
    return width <= NOT_COPIED && width % SumOrder.LANES == 0;
  }

  /** Normalises a narrow row at offsets. */
  static void narrow(FirstTier norm, float[] x, int xOffset, float[] gain, float[] y, int yOffset) {
    int width = norm.width;
    float[] bias = norm.bias;
    double squares = Lanes.narrowSquares(x, xOffset, width);
    double rstd = norm.rstd(squares / norm.divisor);
    float r = (float) rstd;
    if (!FirstTier.isNormal(r)) {
      inFloat64(norm, x, xOffset, gain, y, yOffset, rstd);
    } else if (bias == null) {
      for (int i = 0; i < width; i++) {
        y[yOffset + i] = x[xOffset + i] * r * gain[i];
      }
    } else {
      for (int i = 0; i < width; i++) {
        y[yOffset + i] = x[xOffset + i] * r * gain[i] + bias[i];
      }
    }
  }

  /** A row whose rstd is out of the range of float32. */
  private static void inFloat64(
      FirstTier norm, float[] x, int xOffset, float[] gain, float[] y, int yOffset, double rstd) {
    float[] bias = norm.bias;
    for (int i = 0; i < norm.width; i++) {
      double v = x[xOffset + i] * rstd * gain[i];
      y[yOffset + i] = (float) (bias == null ? v : v + bias[i]);
    }
  }
}
