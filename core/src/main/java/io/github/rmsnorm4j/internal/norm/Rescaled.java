package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.lowering.Kernels;

/**
 * The statistic of a float64 row whose squares leave the range of float64. The row is summed again
 * with every element times 2^600 or 2^-600, which is exact. Plain Java, because such rows are rare.
 */
final class Rescaled {
  private static final double UP = 0x1p600;
  private static final double DOWN = 0x1p-600;

  private final Kernel shift;
  private final Kernel roots;

  /** For the small scale and for the great one. */
  private final Kernel[] statistic = new Kernel[2];

  private final Kernel[] output = new Kernel[2];

  Rescaled(Forward forward, Kernels kernels) {
    shift = kernels.plain(forward.shift());
    roots = kernels.plain(forward.roots());
    for (int up = 0; up < 2; up++) {
      statistic[up] = kernels.plain(forward.scaledStatistic(up == 0));
      output[up] = kernels.plain(forward.scaledOutput(up == 0));
    }
  }

  /** 1 if the elements of the first row are multiplied by the great scale, otherwise 0. */
  private static int up(Frame frame) {
    return frame.ofCall[Forward.SCALE.place()] == UP ? 1 : 0;
  }

  /** The output of the first row, if {@link #statistic} returned true. */
  Kernel output(Frame frame) {
    return output[up(frame)];
  }

  /**
   * Sums the row again and stores its statistic as numbers of the first row.
   *
   * @return whether {@link #output} must write the row; then its rstd and root belong to its
   *     elements times the scale of the call
   */
  boolean statistic(NormChoices norm, LongRow row, Frame frame) {
    boolean centred = norm.isCentred();
    double scale = frame.of(Forward.SQUARES)[0] < Forward.TINY_SUM ? UP : DOWN;
    int n = norm.part();
    double before = frame.of(Forward.MEAN)[0];
    frame.set(Forward.SCALE, scale);
    frame.of(Forward.SCALED_MEAN)[0] = 0.0;
    frame.of(Forward.SUM)[0] = 0.0;
    Kernel sums = statistic[up(frame)];
    double x0 = 0.0;
    double mean = 0.0; // Of (x - x0) * scale: the mean of the row may be too small to be exact.
    if (centred) {
      row.first(shift);
      x0 = frame.of(Forward.SHIFT)[0];
    }
    row.sums(sums, n);
    if (centred) {
      mean = frame.of(Forward.SUM)[0] / n;
      frame.of(Forward.SCALED_MEAN)[0] = mean;
    }
    if (centred && n > LongRow.ONE_PASS) {
      row.sums(sums, n);
      frame.of(Forward.SUM)[0] = 0.0;
    }
    if (!Double.isFinite(frame.of(Forward.SQUARES)[0])) {
      return false; // The row itself is not finite: the result of the usual formula stands.
    }
    roots(norm, frame, scale);
    double root = frame.of(Forward.ROOT)[0];
    double rstd = frame.of(Forward.RSTD)[0];
    double unscaled = rstd * scale;
    boolean normal = unscaled >= Double.MIN_NORMAL && unscaled <= Double.MAX_VALUE;
    boolean wide = !normal || centred && scale == DOWN;
    frame.of(Forward.MEAN)[0] =
        !centred ? before : scale == UP ? x0 + mean * DOWN : (x0 * DOWN + mean) * UP;
    frame.of(Forward.RSTD)[0] = wide ? rstd : unscaled;
    frame.of(Forward.ROOT)[0] = wide ? root : root / scale;
    return wide;
  }

  /** The roots of scaled elements, with epsilon times the scale, or times its square. */
  private void roots(NormChoices norm, Frame frame, double scale) {
    boolean inside = norm.spec().epsilonPlacement() == EpsilonPlacement.INSIDE;
    double scaled = norm.epsilon() * scale;
    frame.set(Forward.EPSILON, inside ? scaled * scale : scaled);
    roots.run(frame, 1, 0, 0);
    frame.set(Forward.EPSILON, norm.epsilon());
  }
}
