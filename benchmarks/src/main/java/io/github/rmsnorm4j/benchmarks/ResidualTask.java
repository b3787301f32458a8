package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Float32 rows added to a residual and normalised: in one call, or in two. */
final class ResidualTask implements Task {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final double ALLOWED = 1e-5;

  private final Subject subject;
  private final double[] gain;
  private final double[] bias;
  private final Norm norm;
  private final Rows x;
  private final Rows residual;
  private final Rows y;

  ResidualTask(Subject subject, Backend backend, Arena arena) {
    this.subject = subject;
    int width = subject.width();
    gain = new SplittableRandom(1).doubles(width, 0.5, 2).toArray();
    bias = subject.kernel().hasBias() ? new double[width] : null;
    norm = subject.kernel().norm(gain, bias, subject.safe(), backend);
    x = rows(arena);
    residual = rows(arena);
    y = rows(arena);
    for (long i = 0; i < subject.elements(); i++) {
      Elements.set(x.segment(), ElementType.FLOAT32, i, value(i));
      Elements.set(residual.segment(), ElementType.FLOAT32, i, value(~i));
    }
  }

  private Rows rows(Arena arena) {
    MemorySegment memory =
        subject.memory().allocate(ElementType.FLOAT32, subject.elements(), arena);
    return Rows.of(memory, ElementType.FLOAT32, subject.rows(), subject.width());
  }

  /** In sixty-fourths: sums are exact for as long as this runs. */
  private static double value(long seed) {
    return new SplittableRandom(seed).nextInt(-127, 128) / 64.0;
  }

  @Override
  public void run() {
    if (subject.job() == Job.ADD_AND_NORM) {
      norm.addAndApply(x, residual, y);
    } else {
      add(x.segment(), residual.segment());
      norm.apply(residual, y);
    }
  }

  private static void add(MemorySegment from, MemorySegment into) {
    ByteOrder order = ByteOrder.nativeOrder();
    long bytes = from.byteSize();
    for (long at = 0; at < bytes; at += F.vectorByteSize()) {
      FloatVector.fromMemorySegment(F, into, at, order)
          .add(FloatVector.fromMemorySegment(F, from, at, order))
          .intoMemorySegment(into, at, order);
    }
  }

  @Override
  public void copy() {
    MemorySegment.copy(x.segment(), 0, y.segment(), 0, x.segment().byteSize());
    MemorySegment.copy(residual.segment(), 0, y.segment(), 0, x.segment().byteSize());
  }

  @Override
  public void check() {
    run();
    int width = subject.width();
    for (int r = 0; r < subject.rows(); r++) {
      double[] sum = new double[width];
      for (int i = 0; i < width; i++) {
        long at = (long) r * width + i;
        sum[i] = value(at) + value(~at);
        expect(r, i, "residual", residual, sum[i], 0);
      }
      double[] exact = subject.kernel().reference(sum, gain, bias);
      for (int i = 0; i < width; i++) {
        expect(r, i, "y", y, exact[i], ALLOWED * Math.abs(exact[i]) + ALLOWED);
      }
    }
  }

  private void expect(int r, int i, String name, Rows rows, double exact, double allowed) {
    double got = Elements.get(rows.segment(), ElementType.FLOAT32, (long) r * subject.width() + i);
    if (!(Math.abs(got - exact) <= allowed)) {
      throw new IllegalStateException(
          "%s on %s: %s of row %s, element %s is %s, it must be %s"
              .formatted(subject, norm.backend(), name, r, i, got, exact));
    }
  }
}
