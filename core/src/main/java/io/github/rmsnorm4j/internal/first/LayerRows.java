package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.norm.Payoff;
import org.jspecify.annotations.Nullable;

/**
 * LayerNorm {@code y = (x - mean) * rstd * g + b}. With {@code d = x - x0}, {@code S1 = rowsum(d)}
 * and {@code S2 = rowsum(d^2)}, {@code mean = x0 + S1 / n} and {@code rstd = 1 / sqrt((S2 - S1^2 /
 * n) / n + eps)}.
 */
final class LayerRows extends FirstTier {
  /** From here on, subtracting the mean could overflow float32. */
  private static final float MAX_MEAN = 0x1p103f;

  private final float[] terms;

  private LayerRows(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      float @Nullable [] bias,
      int threads,
      @Nullable Backend backend,
      Payoff payoff) {
    super(spec, width, gain, bias, threads, backend, payoff);
    terms = bias == null ? filled(this.width, -0f) : bias;
  }

  /** Not a constructor, so that the JVM loads this class only for a norm of its kind. */
  static FirstTier of(
      NormSpec spec,
      int width,
      float @Nullable [] gain,
      float @Nullable [] bias,
      int threads,
      @Nullable Backend backend,
      Payoff payoff) {
    return new LayerRows(spec, width, gain, bias, threads, backend, payoff);
  }

  @Override
  void normalise(float[] x, float[] y) {
    int piece = PlainLoops.piece();
    Lanes lanes = Lanes.ofThread();
    double x0 = x[0];
    double s1 = lanes.shifted(x, x0, width, piece);
    double s2 = lanes.shiftedSquares(x, x0, width, piece);
    double mean = x0 + s1 / width;
    double rstd = 1 / root(Math.max((s2 - s1 * s1 / width) / width, 0));
    float high = (float) mean;
    if (!isNormal((float) rstd) || !(Math.abs(high) < MAX_MEAN)) {
      for (int i = 0; i < width; i++) {
        y[i] = (float) ((x[i] - mean) * rstd * gain[i] + terms[i]);
      }
      return;
    }
    float low = (float) (mean - high);
    for (int i = 0; i < width; i += piece) {
      int end = Math.min(width, i + piece);
      PlainLoops.centre(y, x, high, low, (float) rstd, gain, terms, i, end);
    }
  }

  @Override
  boolean narrow(float[] x, int xOffset, float[] y, int yOffset) {
    return false;
  }
}
