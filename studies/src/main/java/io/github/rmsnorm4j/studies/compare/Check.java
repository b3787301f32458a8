package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Answers before times: compares rows with the definition in float64. */
final class Check {
  private static final int ROWS = 16;

  private final Subject subject;
  private final Data data;

  Check(Subject subject) {
    this.subject = subject;
    data = new Data(subject.type(), subject.shape());
  }

  /**
   * The largest error of sample rows, the first and the last among them, as a part of the row's
   * largest element; of a backward pass, that of the gain's gradient as well. A fused forward pass
   * must have the bits that the library gives each row alone, on this processor.
   *
   * @param result gives the rows of the answer
   * @param gainGradient null in a forward pass
   * @throws IllegalStateException if it is larger than the type's rounding explains, or a row has
   *     other bits
   */
  double error(Variant variant, IntFunction<double[]> result, float[] gainGradient) {
    Exact exact = new Exact(variant, data.parameters(Data.GAIN), data.parameters(Data.BIAS));
    int rows = subject.shape().rows();
    double largest = 0;
    for (int row : samples(rows)) {
      double[] x = data.row(Data.X, row);
      double[] right =
          subject.pass() == Pass.FORWARD
              ? exact.forward(x)
              : exact.backward(x, data.row(Data.DY, row), new double[x.length]);
      largest = Math.max(largest, distance(result.apply(row), right));
    }
    if (subject.pass() == Pass.BACKWARD) {
      largest = Math.max(largest, distance(Exact.doubles(gainGradient), gainGradient(exact)));
    }
    if (!(largest <= allowed(variant))) {
      throw new IllegalStateException(
          String.format(
              Locale.ROOT,
              "%s, %s: an answer is off by %.2g of the row's largest, at most %.2g is to be expected",
              variant,
              subject,
              largest,
              allowed(variant)));
    }
    if (variant.isFused() && subject.pass() == Pass.FORWARD) {
      for (int row : samples(rows)) {
        requireSame(variant, row, result.apply(row));
      }
    }
    return largest;
  }

  private void requireSame(Variant variant, int row, double[] got) {
    float[] bias = data.parameters(Data.BIAS);
    Norm norm = variant.norm(data.parameters(Data.GAIN), bias, 1, Backend.scalar());
    Subject one = new Subject(Pass.FORWARD, subject.type(), Shape.of(1, subject.shape().width()));
    Data ofOne = new Data(one.type(), one.shape());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment x = arena.allocate(one.tensorBytes(), Float.BYTES);
      ofOne.write(x, 0, data.row(Data.X, row));
      Rows rows = Rows.of(x, one.type(), 1, one.shape().width());
      norm.apply(rows, rows);
      if (!Arrays.equals(got, ofOne.read(x, 0))) {
        throw new IllegalStateException(
            "%s, %s: row %s does not have the bits of this processor"
                .formatted(variant, subject, row));
      }
    }
  }

  private static int[] samples(int rows) {
    int n = Math.min(rows, ROWS);
    return IntStream.range(0, n).map(i -> n == 1 ? 0 : (int) (i * (rows - 1L) / (n - 1))).toArray();
  }

  /** Rows repeat, so those of one period tell the sum over all. */
  private double[] gainGradient(Exact exact) {
    double[] sum = new double[subject.shape().width()];
    double[] part = new double[sum.length];
    for (int row = 0; row < data.period; row++) {
      exact.backward(data.row(Data.X, row), data.row(Data.DY, row), part);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += data.copies(row) * part[i];
      }
    }
    return sum;
  }

  /** A fused norm rounds once at the end; a naive one after each operation. */
  private double allowed(Variant variant) {
    double rounding = subject.type().unitRoundoff();
    boolean sums = subject.pass() == Pass.BACKWARD;
    if (variant.isFused()) {
      return sums
          ? Math.max(2 * rounding, 2e-5)
          : Math.max(2 * rounding, 8 * ElementType.FLOAT32.unitRoundoff());
    }
    return sums && subject.type() == ElementType.FLOAT32 ? 1e-3 : 64 * rounding;
  }

  private static double distance(double[] got, double[] right) {
    double largest = 0;
    double error = 0;
    for (int i = 0; i < right.length; i++) {
      largest = Math.max(largest, Math.abs(right[i]));
      double off = Math.abs(got[i] - right[i]);
      error = off <= error ? error : off; // NaN is an error, too
    }
    return error == 0 ? 0 : error / largest;
  }
}
