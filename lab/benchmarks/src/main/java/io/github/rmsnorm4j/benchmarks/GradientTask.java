package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.stream.IntStream;

/** A backward pass in float32: dx, and the gradients of gain and, for LayerNorm, bias. */
final class GradientTask extends Task {
  /** Of the largest element of a row, or of a column's sum. */
  private static final double ALLOWED = 2e-5;

  private final Rows x;
  private final Rows dy;
  private final Rows dx;
  private final Saved saved;
  private final float[] dgain;
  private final float[] dbias;
  private final ParameterGradients gradients;

  GradientTask(Subject subject, Backend backend, Arena arena) {
    super(subject, backend, arena);
    x = rows(this::values);
    dy = rows(r -> values(~r - 2));
    dx = zeros();
    saved = new Saved(Keep.INPUT, subject.rows());
    norm.apply(x, dx, saved);
    dgain = new float[subject.width()];
    dbias = bias == null ? null : new float[subject.width()];
    gradients = ParameterGradients.assigned(dgain, dbias);
  }

  @Override
  void run() {
    norm.backward(dy, saved, dx, gradients);
  }

  /** Two rows are read for one that is written: one and a half are copied. */
  @Override
  void check() {
    run();
    double epsilon = subject.kernel().spec().epsilon().getAsDouble();
    double[] gainSums = new double[subject.width()];
    double[] biasSums = new double[subject.width()];
    for (int r = 0; r < subject.rows(); r++) {
      double[] expected =
          subject.kernel().gradient(row(x, r), row(dy, r), gain, epsilon, gainSums, biasSums);
      compare("dx of row " + r, row(dx, r), expected);
    }
    compare("dgain", doubles(dgain), gainSums);
    if (dbias != null) {
      compare("dbias", doubles(dbias), biasSums);
    }
  }

  private void compare(String what, double[] got, double[] exact) {
    double largest = Arrays.stream(exact).map(Math::abs).max().orElse(0);
    expect(what, got, exact, _ -> ALLOWED * largest);
  }

  private static double[] doubles(float[] values) {
    return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
  }
}
