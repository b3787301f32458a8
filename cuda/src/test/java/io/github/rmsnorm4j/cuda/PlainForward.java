package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.cuda.interpret.Work;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;

/** A forward call with a gain, whose kernel may be another one than its own. */
final class PlainForward {
  private final NormSpec spec;
  private final TestRows x;
  private final TestRows expected;
  private final double[] rstd;
  private final int groups;
  private boolean isInPlace;
  private final double[] gain;
  private final NormParts parts;
  private final PtxKernel kernel;

  /** A call of rows that are one after the other, and in range. */
  static PlainForward of(NormSpec spec, ElementType type, int rows, int width) {
    return new PlainForward(spec, type, rows, width, 1, 0, false);
  }

  /**
   * A call.
   *
   * @param groups of a row; the rows are apart if there are several
   * @param before elements before the first row, which decide where rows are aligned
   * @param leaves whether the first row leaves the range of its arithmetic
   */
  PlainForward(
      NormSpec spec,
      ElementType type,
      int rows,
      int width,
      int groups,
      int before,
      boolean leaves) {
    this.groups = groups;
    this.spec = spec.withGroups(RowGroups.ofCount(groups));
    SplittableRandom random = new SplittableRandom(width);
    x = TestRows.of(type, rows, width, before, groups > 1 ? 4 : 0);
    for (int row = 0; row < rows; row++) {
      x.draw(row, random, false);
    }
    for (int i = 0; leaves && i < width; i++) {
      x.set(0, i, type.round(3e38 * random.nextDouble(-1, 1)));
    }
    gain = new double[width / groups];
    for (int i = 0; i < gain.length; i++) {
      gain[i] = (float) random.nextDouble(-2, 2);
    }
    Norm norm = this.spec.builder(width).gain(gain).threads(1).backend(Backend.scalar()).build();
    expected = output();
    Saved saved = new Saved(Keep.INPUT, rows);
    norm.apply(x.onCpu(), expected.onCpu(), saved);
    rstd = saved.rstd();
    parts = NormParts.of(norm);
    NormChoices choices = parts.choices(type);
    ForwardFormula formula = ForwardFormula.of(choices.spec(), type, ElementType.FLOAT64, false);
    kernel =
        NormKernels.of(
            formula,
            Map.of(Forward.X, type, Forward.Y, type),
            false,
            choices,
            null,
            SharedMemory.LEAST);
  }

  /** The same call with y in place of x. */
  PlainForward inPlace() {
    isInPlace = true;
    return this;
  }

  private TestRows output() {
    int before = x.offset() / x.type().bytes();
    return TestRows.of(x.type(), x.rows(), x.width(), before, x.stride() - x.width());
  }

  PtxKernel kernel() {
    return kernel;
  }

  long elements() {
    return (long) x.rows() * x.width();
  }

  /**
   * Runs a text in place of the kernel.
   *
   * @return the first difference from the CPU; null if there is none
   * @throws io.github.rmsnorm4j.cuda.interpret.PtxFault if the interpreter finds a fault
   */
  String run(String text, DeviceRun device) {
    TestRows y = isInPlace ? x.copy() : output();
    DeviceRows yThere = device.rows("y", y, false);
    DeviceRows xThere = isInPlace ? yThere : device.rows("x", x, true);
    byte[] kept = DeviceRun.doubles(rstd.length);
    long gainAt = device.numbers("gain", gain, NormKernels.arithmetic(x.type()));
    ForwardCalls calls =
        new ForwardCalls(
            parts,
            device.sharedBytes(),
            Map.of(Forward.X, xThere, Forward.Y, yThere),
            DeviceColumn.of(
                gainAt,
                ElementType.FLOAT64,
                NormKernels.arithmetic(x.type()),
                gain.length,
                gain.length),
            null,
            0,
            device.memory.allocateUnwritten("rstd", kept),
            null);
    device.launch(text, calls.launches().getFirst());
    String difference = y.difference(expected);
    boolean same = Arrays.equals(DeviceRun.values(kept), rstd);
    return difference == null && !same ? "rows have another rstd" : difference;
  }

  /** The work of the kernel itself. */
  Work work() {
    DeviceRun device = new DeviceRun();
    String difference = run(kernel.text(), device);
    if (difference != null) {
      throw new AssertionError(this + ": " + difference);
    }
    return device.work;
  }

  @Override
  public String toString() {
    return "%s, %s, %d".formatted(spec, x.type(), x.width());
  }
}
