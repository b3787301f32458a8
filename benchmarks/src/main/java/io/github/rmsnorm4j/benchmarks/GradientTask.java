package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** A backward pass in float32: dx, and the gradients of gain and, for LayerNorm, bias. */
final class GradientTask implements Task {
  /** Of the largest element of a row, or of a column's sum. */
  private static final double ALLOWED = 2e-5;

  private final Subject subject;
  private final double[] gain;
  private final Norm norm;
  private final Rows x;
  private final Rows dy;
  private final Rows dx;
  private final Saved saved;
  private final float[] dgain;
  private final float[] dbias;
  private final ParameterGradients gradients;

  GradientTask(Subject subject, Backend backend, Arena arena) {
    this.subject = subject;
    int width = subject.width();
    gain = new SplittableRandom(1).doubles(width, 0.5, 2).toArray();
    double[] bias = subject.kernel().hasBias() ? new double[width] : null;
    norm = subject.kernel().norm(gain, bias, subject.safe(), backend);
    x = rows(arena);
    dy = rows(arena);
    dx = rows(arena);
    for (long i = 0; i < subject.elements(); i++) {
      ElementType.FLOAT32.set(x.segment(), i, value(2 * i));
      ElementType.FLOAT32.set(dy.segment(), i, value(2 * i + 1));
    }
    saved = new Saved(Keep.INPUT, subject.rows());
    norm.apply(x, dx, saved);
    dgain = new float[width];
    dbias = subject.kernel().hasBias() ? new float[width] : null;
    gradients = ParameterGradients.assigned(dgain, dbias);
  }

  private Rows rows(Arena arena) {
    MemorySegment memory =
        subject.memory().allocate(ElementType.FLOAT32, subject.elements(), arena);
    return Rows.of(memory, ElementType.FLOAT32, subject.rows(), subject.width());
  }

  private static double value(long seed) {
    return (float) new SplittableRandom(seed).nextDouble(-2, 2);
  }

  @Override
  public void run() {
    norm.backward(dy, saved, dx, gradients);
  }

  /** Two rows are read for one that is written: one and a half are copied. */
  @Override
  public void copy() {
    long bytes = x.segment().byteSize();
    MemorySegment.copy(x.segment(), 0, dx.segment(), 0, bytes);
    MemorySegment.copy(dy.segment(), 0, dx.segment(), 0, bytes / 2);
  }

  @Override
  public void check() {
    run();
    int width = subject.width();
    double epsilon = subject.kernel().spec().epsilon().getAsDouble();
    double[] gainSums = new double[width];
    double[] biasSums = new double[width];
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

  private double[] row(Rows rows, int r) {
    double[] row = new double[subject.width()];
    for (int i = 0; i < row.length; i++) {
      row[i] = ElementType.FLOAT32.get(rows.segment(), (long) r * row.length + i);
    }
    return row;
  }

  private void compare(String what, double[] got, double[] expected) {
    double largest = 0;
    for (double v : expected) {
      largest = Math.max(largest, Math.abs(v));
    }
    for (int i = 0; i < got.length; i++) {
      if (!(Math.abs(got[i] - expected[i]) <= ALLOWED * largest)) {
        throw new IllegalStateException(
            "%s on %s: %s, element %s is %s, it must be near %s"
                .formatted(subject, norm.backend(), what, i, got[i], expected[i]));
      }
    }
  }

  private static double[] doubles(float[] values) {
    double[] doubles = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      doubles[i] = values[i];
    }
    return doubles;
  }
}
