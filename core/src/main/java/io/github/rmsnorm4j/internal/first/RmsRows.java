package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.norm.Payoff;
import org.jspecify.annotations.Nullable;

/**
 * RMSNorm {@code y = x * rstd * g + b}, {@code rstd = 1 / sqrt(rowsum(x^2) / n + eps)}, and the L2
 * norm, whose sum is not divided.
 */
final class RmsRows extends FirstTier {
  /** Rows of whole 32s of at most this width are summed without lanes in memory. */
  private static final int SUMMED_AS_NARROW = 512;

  /** Rows of at most this width are not copied. */
  private static final int NOT_COPIED = 256;

  private final double divisor;

  RmsRows(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      float @Nullable [] bias,
      int threads,
      @Nullable Backend backend,
      Payoff payoff) {
    super(spec, width, gain, bias, threads, backend, payoff);
    divisor = spec.isOfLength() ? 1 : this.width;
  }

  @Override
  void normalise(float[] x, float[] y) {
    int piece = PlainLoops.piece();
    boolean narrow = width <= SUMMED_AS_NARROW && width % SumOrder.LANES == 0;
    double squares =
        narrow ? Lanes.narrowSquares(x, 0, width) : Lanes.ofThread().squares(x, width, piece);
    double rstd = 1 / root(squares / divisor);
    if (!isNormal((float) rstd)) {
      inFloat64(x, 0, y, 0, rstd);
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

  @Override
  boolean narrow(float[] x, int xOffset, float[] y, int yOffset) {
    if (width > NOT_COPIED || width % SumOrder.LANES != 0) {
      return false;
    }
    double rstd = 1 / root(Lanes.narrowSquares(x, xOffset, width) / divisor);
    float r = (float) rstd;
    if (!isNormal(r)) {
      inFloat64(x, xOffset, y, yOffset, rstd);
    } else if (bias == null) {
      for (int i = 0; i < width; i++) {
        y[yOffset + i] = x[xOffset + i] * r * gain[i];
      }
    } else {
      for (int i = 0; i < width; i++) {
        y[yOffset + i] = x[xOffset + i] * r * gain[i] + bias[i];
      }
    }
    return true;
  }

  /** A row whose rstd is out of the range of float32. */
  private void inFloat64(float[] x, int xOffset, float[] y, int yOffset, double rstd) {
    for (int i = 0; i < width; i++) {
      double v = x[xOffset + i] * rstd * gain[i];
      y[yOffset + i] = (float) (bias == null ? v : v + bias[i]);
    }
  }
}
