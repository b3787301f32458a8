package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.interpret.Work;
import io.github.rmsnorm4j.cuda.ptx.Arguments;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormParts;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Map;
import java.util.SplittableRandom;

/** A forward call with a gain, whose kernel may be another one than its own. */
final class PlainForward {
  private final NormSpec spec;
  private final TestRows x;
  private final TestRows expected;
  private final double[] gain;
  private final NormChoices choices;
  private final PtxKernel kernel;

  /**
   * A call.
   *
   * @param before elements before the first row, which decide where rows are aligned
   * @param mayLeave whether rows may leave the range of their arithmetic
   */
  PlainForward(NormSpec spec, ElementType type, int rows, int width, int before, boolean mayLeave) {
    this.spec = spec;
    SplittableRandom random = new SplittableRandom(width);
    x = TestRows.of(type, rows, width, before, 0);
    for (int row = 0; row < rows; row++) {
      x.draw(row, random, mayLeave);
    }
    gain = new double[width];
    for (int i = 0; i < width; i++) {
      gain[i] = (float) random.nextDouble(-2, 2);
    }
    Norm norm = spec.builder(width).gain(gain).threads(1).backend(Backend.scalar()).build();
    expected = TestRows.of(type, rows, width, before, 0);
    norm.apply(x.onCpu(), expected.onCpu());
    choices = NormParts.of(norm).choices(type);
    Map<Tensor, ElementType> types = Map.of(Forward.X, type, Forward.Y, type);
    kernel = NormKernels.forward(choices, types, ElementType.FLOAT64, false);
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
    boolean float64 = x.type() == ElementType.FLOAT64;
    ElementType arithmetic = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    TestRows y = TestRows.of(x.type(), x.rows(), x.width(), x.offset() / x.type().bytes(), 0);
    long stride = (long) x.stride() * x.type().bytes();
    Arguments arguments =
        new Arguments(kernel.parameters())
            .rows(Forward.X, device.rows("x", x, true), stride, 0, 0)
            .rows(Forward.Y, device.rows("y", y, false), stride, 0, 0)
            .column(Forward.GAIN, device.column("gain", gain, arithmetic))
            .set("mean_address", 0)
            .set("rstd_address", 0)
            .set("statistic_step", 1)
            .set("rows", x.rows())
            .set("width", x.width())
            .set("part", choices.part())
            .set("epsilon", choices.epsilon());
    device.launch(text, kernel.launch(x.rows(), x.width()), arguments);
    return y.difference(expected);
  }

  /** The work of the kernel itself. */
  Work work() {
    DeviceRun device = new DeviceRun(false);
    String difference = run(kernel.text(), device);
    if (difference != null) {
      throw new AssertionError(this + ": " + difference);
    }
    return device.work;
  }

  @Override
  public String toString() {
    return "%s, %s, %d x %d".formatted(spec, x.type(), x.rows(), x.width());
  }
}
