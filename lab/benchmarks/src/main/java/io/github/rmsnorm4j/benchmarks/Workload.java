package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;

/** A forward pass. */
final class Workload extends Task {
  private final Rows x;
  private final Rows y;
  private final Rows other;

  Workload(Subject subject, Backend backend, Arena arena) {
    super(subject, backend, arena);
    x = rows(this::values);
    other = zeros();
    y = subject.inPlace() ? x : other;
  }

  @Override
  void run() {
    norm.apply(x, y);
  }

  @Override
  void check() {
    run();
    compare();
  }

  /** Compares what is written now. */
  void compare() {
    for (int row = 0; row < subject.rows(); row++) {
      double[] exact = subject.kernel().reference(values(row), gain, bias);
      expect("row " + row, row(y, row), exact, i -> allowed(exact[i], bias == null ? 0 : bias[i]));
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
    double unit = ElementType.FLOAT32.unitRoundoff();
    double float32 = subject.kernel().roundings(subject.width()) * unit * size + 0x1p-148;
    return type == ElementType.FLOAT32
        ? float32
        : float32 + type.unitRoundoff() * (Math.abs(exact) + float32) + 0x1p-25;
  }
}
