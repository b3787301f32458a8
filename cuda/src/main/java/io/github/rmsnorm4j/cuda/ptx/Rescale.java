package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Rescaling;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.function.Consumer;

/**
 * A float64 row whose squares leave the range of float64, as docs/numerics.md defines it: it is
 * summed again with every element times 2^600 or 2^-600.
 */
final class Rescale {
  private static final double UP = 0x1p600;
  private static final double DOWN = 0x1p-600;

  private final PtxText text;
  private final Numbers numbers;
  private final StageCode stages;
  private final KernelSignature signature;
  private final Rescaling rescaling;

  Rescale(
      PtxText text,
      Numbers numbers,
      StageCode stages,
      KernelSignature signature,
      Rescaling rescaling) {
    this.text = text;
    this.numbers = numbers;
    this.stages = stages;
    this.signature = signature;
    this.rescaling = rescaling;
  }

  /**
   * Writes the branch for such a row.
   *
   * @param inRange continues with the row's own numbers
   * @param kept the same, after they are kept
   * @param done the end of the row
   * @param keep keeps the mean, and rstd from a register
   */
  void write(String inRange, String kept, String done, Consumer<String> keep) {
    String up = text.label("SCALED_UP");
    String tiny = PtxText.literal(Forward.TINY_SUM);
    if (signature.isCentred()) {
      stages.writeRare(rescaling.shift(), Extent.FIRST);
    }
    text.branchIf(text.test("lt.f64", numbers.of(Forward.SQUARES), tiny), up);
    text.mark(text.label("SCALED_DOWN"));
    scaled(DOWN, inRange, kept, done, keep);
    text.mark(up);
    scaled(UP, inRange, kept, done, keep);
  }

  private void scaled(
      double scale, String inRange, String kept, String done, Consumer<String> keep) {
    statistic(scale);
    text.branchIf(isNotFinite(), inRange);
    roots(scale);
    String wide = text.label("STILL_SCALED");
    String rstd = numbers.of(Forward.RSTD);
    String unscaled = text.compute(Kind.F64, "mul.rn.f64", rstd, PtxText.literal(scale));
    mean(scale);
    if (!(signature.isCentred() && scale == DOWN)) {
      String low = PtxText.literal(Double.MIN_NORMAL);
      text.branchIf(text.test("ltu.f64", unscaled, low), wide);
      text.branchIf(text.test("gtu.f64", unscaled, PtxText.literal(Double.MAX_VALUE)), wide);
      numbers.set(Forward.RSTD, unscaled);
      set(Forward.ROOT, Value.row(Forward.ROOT).over(Value.literal(scale)));
      text.branch(inRange);
      text.mark(wide);
    }
    if (rescaling.output() == null) {
      numbers.set(Forward.RSTD, unscaled);
      text.branch(kept);
    } else {
      keep.accept(unscaled);
      stages.writeRare(rescaling.output().get(scale == UP ? 1 : 0), Extent.ROW);
      text.branch(done);
    }
  }

  private void set(Tensor number, Value value) {
    numbers.set(number, stages.rowValues().of(value));
  }

  private void statistic(double scale) {
    numbers.set(Forward.SCALE, PtxText.literal(scale));
    numbers.set(Forward.SCALED_MEAN, PtxText.literal(0.0));
    Stage sums = rescaling.statistic().get(scale == UP ? 1 : 0);
    stages.writeRare(sums, Extent.PART);
    if (signature.isCentred()) {
      set(Forward.SCALED_MEAN, Value.row(Forward.SUM).over(Value.call(Forward.K)));
    }
    if (signature.isCentred() && signature.isLong()) {
      stages.writeRare(sums, Extent.PART);
      numbers.set(Forward.SUM, PtxText.literal(0.0));
    }
  }

  private String isNotFinite() {
    String magnitude = text.compute(Kind.F64, "abs.f64", numbers.of(Forward.SQUARES));
    return text.test("gtu.f64", magnitude, PtxText.literal(Double.MAX_VALUE));
  }

  /** The roots of scaled elements, with epsilon times the scale, or times its square. */
  private void roots(double scale) {
    String epsilon = text.compute(Kind.F64, "mov.f64", numbers.of(Forward.EPSILON));
    Value scaled = Value.call(Forward.EPSILON).times(Value.literal(scale));
    set(
        Forward.EPSILON,
        signature.hasEpsilonInside() ? scaled.times(Value.literal(scale)) : scaled);
    stages.writeRare(rescaling.roots(), Extent.NUMBERS);
    numbers.set(Forward.EPSILON, epsilon);
  }

  /** The mean, or the length, of the row itself. */
  private void mean(double scale) {
    Value mean = Value.row(Forward.SCALED_MEAN);
    Value x0 = Value.row(Forward.SHIFT);
    if (signature.isOfLength()) {
      set(Forward.LENGTH, Value.row(Forward.LENGTH).over(Value.literal(scale)));
    } else if (signature.isCentred()) {
      Value down = Value.literal(DOWN);
      set(
          Forward.MEAN,
          scale == UP
              ? x0.plus(mean.times(down))
              : x0.times(down).plus(mean).times(Value.literal(UP)));
    }
  }
}
