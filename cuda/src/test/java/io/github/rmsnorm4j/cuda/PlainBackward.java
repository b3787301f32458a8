package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cuda.interpret.Work;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import java.util.Map;
import java.util.SplittableRandom;

/** A backward call of a norm with a gain, of rows that are one after the other, and in range. */
final class PlainBackward {
  private final NormSpec spec;
  private final Keep keep;

  /** Whether dgain is wanted, and dbias of a LayerNorm. */
  private final boolean sums;

  private final TestRows x;
  private final TestRows dy;
  private final double[] gain;

  PlainBackward(NormSpec spec, ElementType type, Keep keep, boolean sums, int rows, int width) {
    this.spec = spec;
    this.keep = keep;
    this.sums = sums;
    SplittableRandom random = new SplittableRandom(width);
    x = TestRows.of(type, rows, width, 0, 0);
    dy = TestRows.of(type, rows, width, 0, 0);
    for (int row = 0; row < rows; row++) {
      x.draw(row, random, false);
      dy.draw(row, random, false);
    }
    gain = random.doubles(width, 0.5, 2).map(g -> (float) g).toArray();
  }

  long elements() {
    return (long) x.rows() * x.width();
  }

  /** The work of the kernel of rows, whose dx is that of the CPU. */
  Work work() {
    ElementType arithmetic = NormKernels.arithmetic(x.type());
    Norm norm = spec.builder(x.width()).gain(gain).threads(1).backend(Backend.scalar()).build();
    TestRows expected = TestRows.of(x.type(), x.rows(), x.width(), 0, 0);
    Saved saved = new Saved(keep, x.rows());
    norm.apply(x.onCpu(), expected.onCpu(), saved);
    norm.backward(dy.onCpu(), saved, expected.onCpu(), null);

    DeviceRun device = new DeviceRun();
    TestRows dx = TestRows.of(x.type(), x.rows(), x.width(), 0, 0);
    DeviceColumn dgain = gradient(device, sums, arithmetic);
    DeviceColumn dbias = gradient(device, sums && spec.isCentred(), arithmetic);
    BackwardCalls calls =
        new BackwardCalls(
            NormParts.of(norm),
            device.sharedBytes(),
            keep,
            Map.of(
                Forward.X, device.rows("x", x, true),
                Backward.DY, device.rows("dy", dy, true),
                Backward.DX, device.rows("dx", dx, false)),
            column(device.numbers("gain", gain, arithmetic), arithmetic),
            null,
            numbers(device, saved.mean()),
            numbers(device, saved.rstd()),
            new BackwardCalls.Gradients(dgain, dbias, false, 0));
    byte[] tables = new byte[Math.toIntExact(calls.tableBytes())];
    long at = device.memory.allocateUnwritten("tables", tables);
    device.launch(calls.withTables(at).launches().subList(0, 1));
    String difference = dx.difference(expected);
    if (difference != null) {
      throw new AssertionError(this + ": dx: " + difference);
    }
    return device.work;
  }

  private DeviceColumn column(long address, ElementType type) {
    return DeviceColumn.of(address, type, type, x.width(), x.width());
  }

  private DeviceColumn gradient(DeviceRun device, boolean wanted, ElementType type) {
    TestRows gradient = TestRows.of(type, 1, x.width(), 0, 0);
    return wanted ? column(device.rows("gradient", gradient, false).address(), type) : null;
  }

  private long numbers(DeviceRun device, double[] numbers) {
    return numbers == null ? 0 : device.numbers("number", numbers, ElementType.FLOAT64);
  }

  @Override
  public String toString() {
    return "%s backward%s%s, %s, %d"
        .formatted(
            spec,
            keep == Keep.NOTHING ? " without statistic" : "",
            sums ? " with sums" : "",
            x.type(),
            x.width());
  }
}
