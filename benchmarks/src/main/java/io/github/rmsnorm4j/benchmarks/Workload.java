package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** A subject made ready: memory touched and filled, the norm built, its answer checked. */
final class Workload implements Task {
  private final Subject subject;
  private final double[] gain;
  private final double[] bias;
  private final Norm norm;
  private final Rows x;
  private final Rows y;
  private final Rows other;

  Workload(Subject subject, Backend backend, Arena arena) {
    this.subject = subject;
    // Gains of 1 and -1: a norm in place goes over its own answers again and again, and other gains
    // would drive them out of range.
    gain = values(-1).clone();
    for (int i = 0; i < gain.length; i++) {
      gain[i] = gain[i] < 0 ? -1 : 1;
    }
    bias = subject.kernel().hasBias() ? values(-2) : null;
    norm = subject.kernel().norm(gain, bias, subject.safe(), backend);
    x = rows(arena);
    other = rows(arena);
    y = subject.inPlace() ? x : other;
    fill();
  }

  private Rows rows(Arena arena) {
    ElementType type = subject.type();
    MemorySegment memory = subject.memory().allocate(type, subject.elements(), arena);
    return Rows.of(memory, type, subject.rows(), subject.width());
  }

  /** One call of the norm. */
  @Override
  public void run() {
    norm.apply(x, y);
  }

  /** One call of the norm for some of the rows, as a thread of several would make it. */
  void run(long from, long to) {
    norm.apply(part(x, from, to), part(y, from, to));
  }

  private Rows part(Rows rows, long from, long to) {
    long rowBytes = (long) rows.width() * rows.type().bytes();
    MemorySegment part = rows.segment().asSlice(from * rowBytes, (to - from) * rowBytes);
    return Rows.of(part, rows.type(), to - from, rows.width());
  }

  /** Copies the same bytes: as many as the norm reads, and as many as it writes. */
  @Override
  public void copy() {
    MemorySegment.copy(x.segment(), 0, other.segment(), 0, x.segment().byteSize());
  }

  /**
   * Runs the norm once, before anything else has, and compares all it wrote with the definition.
   *
   * @throws IllegalStateException if an element is farther off than the contract allows
   */
  @Override
  public void check() {
    run();
    compare();
  }

  /** Compares what is written now. */
  void compare() {
    for (int row = 0; row < subject.rows(); row++) {
      double[] exact = subject.kernel().reference(values(row), gain, bias);
      for (int i = 0; i < exact.length; i++) {
        double got = Elements.get(y.segment(), subject.type(), index(row, i));
        double allowed = allowed(exact[i], bias == null ? 0 : bias[i]);
        if (!(Math.abs(got - exact[i]) <= allowed)) {
          throw new IllegalStateException(
              "%s on %s: row %s, element %s is %s, it must be within %s of %s"
                  .formatted(subject, norm.backend(), row, i, got, allowed, exact[i]));
        }
      }
    }
  }

  /**
   * The contract's bound, without LayerNorm's term for a large mean, which these rows do not have.
   * For float64 the bound is that of the definition, which adds plainly.
   */
  private double allowed(double exact, double bias) {
    double size = Math.abs(exact - bias) + Math.abs(bias);
    ElementType type = subject.type();
    if (type == ElementType.FLOAT64) {
      return 1e-12 * size;
    }
    double float32 = subject.kernel().roundings() * 0x1p-24 * size + 0x1p-148;
    return type == ElementType.FLOAT32
        ? float32
        : float32 + Elements.unitRoundoff(type) * (Math.abs(exact) + float32) + 0x1p-25;
  }

  private void fill() {
    for (int row = 0; row < subject.rows(); row++) {
      double[] values = values(row);
      for (int i = 0; i < values.length; i++) {
        Elements.set(x.segment(), subject.type(), index(row, i), values[i]);
        Elements.set(other.segment(), subject.type(), index(row, i), 0);
      }
    }
  }

  private long index(int row, int i) {
    return (long) row * subject.width() + i;
  }

  /** Made again whenever they are wanted; few enough bits that every type holds them exactly. */
  private double[] values(int row) {
    SplittableRandom random = new SplittableRandom(row);
    double[] values = new double[subject.width()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-127, 128) / 64.0;
    }
    return values;
  }
}
