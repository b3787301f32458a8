package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.Objects;

/**
 * LayerNorm {@code y = (x - mean) * rstd * g + b}. With {@code d = x - x0}, {@code S1 = rowsum(d)}
 * and {@code S2 = rowsum(d^2)}, {@code mean = x0 + S1 / n} and {@code rstd = 1 / sqrt((S2 - S1^2 /
 * n) / n + eps)}.
 */
final class LayerRows {
  /** From here on, subtracting the mean could overflow float32. */
  private static final float MAX_MEAN = 0x1p103f;

  private LayerRows() {}

  /** Normalises a row at the start of arrays, which may be the same. */
  static void normalise(FirstTier norm, Lanes lanes, float[] x, float[] gain, float[] y) {
    int width = norm.width;
    float[] bias = Objects.requireNonNull(norm.bias);
    // Written out: the JIT compiles a method with a loop after 600 calls, others after 5,000.
    for (int j = 0; j < SumOrder.LANES; j++) {
      lanes.block[j] = 0;
      lanes.total[j] = 0;
    }
    int piece = PlainLoops.piece();
    double x0 = x[0];
    double s1 = lanes.sum(x, x0, false, width, piece);
    lanes.clear();
    double s2 = lanes.sum(x, x0, true, width, piece);
    double mean = x0 + s1 / width;
    double rstd = norm.rstd(Math.max((s2 - s1 * s1 / width) / width, 0));
    float high = (float) mean;
    if (!FirstTier.isNormal((float) rstd) || !(Math.abs(high) < MAX_MEAN)) {
      for (int i = 0; i < width; i++) {
        y[i] = (float) ((x[i] - mean) * rstd * gain[i] + bias[i]);
      }
      return;
    }
    float low = (float) (mean - high);
    for (int i = 0; i < width; i += piece) {
      int end = Math.min(width, i + piece);
      PlainLoops.centre(y, x, high, low, (float) rstd, gain, bias, i, end);
    }
  }
}
