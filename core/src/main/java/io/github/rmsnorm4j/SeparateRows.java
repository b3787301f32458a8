package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import org.jspecify.annotations.Nullable;

/** Forward calls of rows that are arrays of their own. */
final class SeparateRows {
  private SeparateRows() {}

  static void apply(Norm norm, float[][] x, float[][] y) {
    NormArguments.requireNoGate(norm.spec().gate(), "applyGated");
    NormArguments.requireRows(x, y, norm.width());
    checkParameter(norm.givenGain, x, y, CallOperand.GAIN);
    checkParameter(norm.givenBias, x, y, CallOperand.BIAS);
    int threads = CallMemory.isOfAnyThread(norm.givenGain, norm.givenBias) ? norm.threads : 1;
    int useful = Runner.useful(2.0 * Float.BYTES * norm.width() * x.length, threads);
    RowScheduler.run(x.length, useful, (from, to) -> apply(norm, x, y, (int) from, (int) to));
  }

  private static void apply(Norm norm, float[][] x, float[][] y, int from, int to) {
    for (int i = from; i < to; i++) {
      ofRow(norm, i, x.length).apply(x[i], y[i]);
    }
  }

  private static void checkParameter(
      @Nullable Rows parameter, float[][] x, float[][] y, CallOperand operand) {
    if (parameter == null) {
      return;
    }
    NormArguments.requireSamples(parameter, x.length, operand.toString());
    NormArguments.requireAccess(parameter, operand.toString());
    for (float[] row : y) {
      CallOperands.requireApart(CallOperand.Y, row, operand, parameter);
    }
  }

  /** The norm with the gain and bias of the sample that a row is of. */
  private static Norm ofRow(Norm norm, int row, int rows) {
    Rows gain = norm.givenGain;
    Rows bias = norm.givenBias;
    long samples = gain != null ? gain.rows() : bias != null ? bias.rows() : 1;
    return samples == 1
        ? norm
        : norm.view(ofSample(gain, row * samples / rows), ofSample(bias, row * samples / rows));
  }

  private static @Nullable Rows ofSample(@Nullable Rows parameter, long sample) {
    return parameter == null ? null : parameter.range(sample, 1);
  }
}
