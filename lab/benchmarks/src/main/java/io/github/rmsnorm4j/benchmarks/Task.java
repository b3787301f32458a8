package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/** A subject made ready to be timed: the norm built, its memory touched and filled. */
abstract class Task {
  final Subject subject;
  final double[] gain;

  /** Null for a norm without. */
  final double[] bias;

  final Norm norm;
  private final Arena arena;

  Task(Subject subject, Backend backend, Arena arena) {
    this.subject = subject;
    this.arena = arena;
    // A norm in place goes over its own answers again and again, and gains other than 1 and -1
    // would drive them out of range.
    gain =
        subject.job() == Job.NORM
            ? new SplittableRandom(-1)
                .ints(subject.width(), 0, 2)
                .mapToDouble(i -> 2 * i - 1)
                .toArray()
            : new SplittableRandom(1).doubles(subject.width(), 0.5, 2).toArray();
    bias = subject.kernel().hasBias() ? values(-2) : null;
    norm = subject.kernel().norm(gain, bias, backend);
  }

  /** One call. */
  abstract void run();

  /**
   * Makes the first call and compares all that it wrote with the definition.
   *
   * @throws IllegalStateException if something is farther off than is allowed
   */
  abstract void check();

  /** New memory, and what each row of it holds. */
  final Rows rows(IntFunction<double[]> row) {
    ElementType type = subject.type();
    MemorySegment memory = subject.memory().allocate(type, subject.elements(), arena);
    for (int r = 0; r < subject.rows(); r++) {
      double[] values = row.apply(r);
      for (int i = 0; i < values.length; i++) {
        type.set(memory, index(r, i), values[i]);
      }
    }
    return Rows.of(memory, type, subject.rows(), subject.width());
  }

  final Rows zeros() {
    return rows(_ -> new double[subject.width()]);
  }

  final double[] row(Rows rows, int r) {
    double[] row = new double[subject.width()];
    Arrays.setAll(row, i -> subject.type().get(rows.segment(), index(r, i)));
    return row;
  }

  private long index(int row, int i) {
    return (long) row * subject.width() + i;
  }

  /** Made again whenever they are wanted; few enough bits that every type holds them exactly. */
  final double[] values(int seed) {
    return new SplittableRandom(seed)
        .ints(subject.width(), -127, 128)
        .mapToDouble(i -> i / 64.0)
        .toArray();
  }

  final void expect(String what, double[] got, double[] exact, IntToDoubleFunction allowed) {
    for (int i = 0; i < exact.length; i++) {
      if (!(Math.abs(got[i] - exact[i]) <= allowed.applyAsDouble(i))) {
        throw new IllegalStateException(
            "%s on %s: %s, element %s is %s, it must be within %s of %s"
                .formatted(
                    subject, norm.backend(), what, i, got[i], allowed.applyAsDouble(i), exact[i]));
      }
    }
  }
}
