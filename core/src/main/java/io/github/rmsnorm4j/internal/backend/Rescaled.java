package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.internal.backend.StagedProgram.Ready;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Rescaling;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernels;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statistic of a float64 row whose squares leave the range of float64. The row is summed again
 * with every element times 2^600 or 2^-600, which is exact. Plain Java, because such rows are rare.
 */
final class Rescaled {
  private static final double UP = 0x1p600;
  private static final double DOWN = 0x1p-600;

  private final @Nullable Kernel shift;
  private final Kernel roots;

  /** The shift and the statistic read the same rows. */
  private final Ready step;

  /** For the small scale and for the great one. */
  private final Kernel[] statistic;

  /** Likewise; null in a backward pass. */
  private final Kernel @Nullable [] output;

  Rescaled(Rescaling rescaling, PlainKernels kernels) {
    shift = rescaling.shift() == null ? null : kernels.plain(rescaling.shift());
    roots = kernels.plain(rescaling.roots());
    output = rescaling.output() == null ? null : kernels(rescaling.output(), kernels);
    statistic = kernels(rescaling.statistic(), kernels);
    step = Ready.of(rescaling.statistic().getFirst(), Extent.PART, statistic[0]);
  }

  private static Kernel[] kernels(List<Stage> stages, PlainKernels kernels) {
    return stages.stream().map(kernels::plain).toArray(Kernel[]::new);
  }

  /** The output of the first row, of elements times a scale; null in a backward pass. */
  @Nullable Kernel output(double scale) {
    return output == null ? null : output[scale == UP ? 1 : 0];
  }

  /**
   * Sums a row again and stores its statistic as numbers of the frame's first row.
   *
   * @return 1 if the numbers are those of the row; otherwise rstd and root are those of its
   *     elements times this scale
   */
  double statistic(StagedRows rows, long row, NormChoices norm) {
    Frame frame = rows.frame();
    boolean centred = norm.isCentred();
    double scale = frame.of(Forward.SQUARES)[0] < Forward.TINY_SUM ? UP : DOWN;
    int n = norm.part();
    double before = frame.of(Forward.MEAN)[0];
    frame.set(Forward.SCALE, scale);
    frame.of(Forward.SCALED_MEAN)[0] = 0.0;
    frame.of(Forward.SUM)[0] = 0.0;
    Kernel sums = statistic[scale == UP ? 1 : 0];
    double x0 = 0.0;
    double mean = 0.0; // Of (x - x0) * scale: the mean of the row may be too small to be exact.
    if (shift != null) {
      rows.first(shift, step, row);
      x0 = frame.of(Forward.SHIFT)[0];
    }
    rows.sum(sums, step, row, n);
    if (centred) {
      mean = frame.of(Forward.SUM)[0] / n;
      frame.of(Forward.SCALED_MEAN)[0] = mean;
    }
    if (centred && n > Forward.ONE_PASS) {
      rows.sum(sums, step, row, n);
      frame.of(Forward.SUM)[0] = 0.0;
    }
    if (!Double.isFinite(frame.of(Forward.SQUARES)[0])) {
      return 1.0; // The row itself is not finite: the result of the usual formula stands.
    }
    roots(norm, frame, scale);
    double length = frame.of(Forward.LENGTH)[0];
    double root = frame.of(Forward.ROOT)[0];
    double rstd = frame.of(Forward.RSTD)[0];
    double unscaled = rstd * scale;
    boolean normal = unscaled >= Double.MIN_NORMAL && unscaled <= Double.MAX_VALUE;
    boolean wide = !normal || centred && scale == DOWN;
    frame.of(Forward.MEAN)[0] =
        !centred ? before : scale == UP ? x0 + mean * DOWN : (x0 * DOWN + mean) * UP;
    if (norm.spec().isOfLength()) {
      frame.of(Forward.LENGTH)[0] = length / scale;
    }
    frame.of(Forward.RSTD)[0] = wide ? rstd : unscaled;
    frame.of(Forward.ROOT)[0] = wide ? root : root / scale;
    return wide ? scale : 1.0;
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
