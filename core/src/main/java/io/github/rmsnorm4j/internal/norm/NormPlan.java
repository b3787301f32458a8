package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.OutputKernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Scaling;
import io.github.rmsnorm4j.internal.kernel.StaggeredKernel;
import io.github.rmsnorm4j.internal.kernel.StatisticKernel;
import io.github.rmsnorm4j.internal.kernel.SumKernel;

/**
 * The kernels of one kind of call. A norm keeps the last one, so that a call of one row does not
 * look up kernels for as long as it computes.
 */
public final class NormPlan {
  /** What kernels depend on, beside the norm. */
  private record Kind(
      ElementType x,
      Memory in,
      ElementType residual,
      Memory sum,
      boolean addsOnTheWay,
      ElementType y,
      Memory out,
      boolean direct,
      boolean gain,
      boolean bias,
      ElementType rounding) {
    static Kind of(NormCall call) {
      RowMemory residual = call.residual();
      return new Kind(
          call.x().type(),
          call.x().memory(),
          residual == null ? null : residual.type(),
          residual == null ? null : residual.memory(),
          call.addsOnTheWay(),
          call.y().type(),
          call.y().memory(),
          call.x().direct() && call.y().direct(),
          call.gain() != null,
          call.bias() != null,
          call.rounding());
    }
  }

  private final Kind kind;

  final StatisticKernel statistic;

  /** The statistic of rows that are added to their residual on the way; null where none are. */
  final StatisticKernel adding;

  /** From sums to the statistic. */
  final Statistic roots;

  /** From row to normalised row; with gain and bias, unless it is rounded before those. */
  final OutputKernel normalise;

  /** Gain and bias on rounded rows in the workspace; null where nothing is rounded. */
  final OutputKernel scale;

  /** Both at once, of rows one after the other; null where there is nothing to gain by that. */
  final StaggeredKernel staggered;

  /** Row and residual; null where they are not added apart. */
  final SumKernel sum;

  /** Codecs of the types of 16 bits, null for the others. */
  final NarrowCodec xCodec;

  final NarrowCodec yCodec;
  final NarrowCodec residualCodec;
  final NarrowCodec rounding;

  private NormPlan(Kind kind, NormChoices norm) {
    this.kind = kind;
    int bits = norm.vectorBits();
    boolean centred = norm.centred();
    boolean float64 = kind.x == ElementType.FLOAT64;
    StatisticKernel.Width width = StatisticKernel.Width.of(norm.width(), norm.part());
    boolean onTheWay = kind.addsOnTheWay;
    Memory in = kind.residual == null ? kind.in : onTheWay ? kind.sum : Memory.HEAP;
    Scaling by = norm.divides() ? Scaling.DIVIDED : Scaling.MULTIPLIED;
    boolean gain = kind.gain;
    boolean bias = kind.bias;
    statistic = statistic(float64, bits, in, null, centred, width);
    adding = onTheWay ? statistic(false, bits, kind.in, kind.sum, centred, width) : null;
    roots = Statistic.of(norm, norm.divides(), float64);
    if (kind.rounding == null) {
      normalise = output(float64, bits, in, kind.out, centred, by, gain, bias);
      scale = null;
    } else {
      normalise = output(float64, bits, in, Memory.HEAP, centred, by, false, false);
      scale = output(float64, bits, Memory.HEAP, kind.out, false, Scaling.NONE, gain, bias);
    }
    boolean narrow = width.lanes() > 0 && kind.residual == null && bits >= 256 && !centred;
    staggered =
        isStaggered(kind, norm, narrow)
            ? StaggeredKernel.of(
                new StaggeredKernel.Spec(
                    bits,
                    in,
                    onTheWay,
                    kind.out,
                    centred,
                    by,
                    gain,
                    bias,
                    narrow ? width.lanes() : 0))
            : null;
    sum =
        kind.residual == null || onTheWay
            ? null
            : SumKernel.of(new SumKernel.Spec(float64, bits, kind.in, kind.sum));
    xCodec = NarrowCodec.of(kind.x, bits);
    yCodec = NarrowCodec.of(kind.y, bits);
    residualCodec = kind.residual == null ? null : NarrowCodec.of(kind.residual, bits);
    rounding = kind.rounding == null ? null : NarrowCodec.of(kind.rounding, bits);
  }

  /**
   * Rows that are read and written where they lie, whole, with vectors. In between narrow and wide
   * ones what there is to do for each, beside its elements, would cost more.
   */
  private static boolean isStaggered(Kind kind, NormChoices norm, boolean narrow) {
    boolean wide = norm.vectorBits() > 0 && norm.width() >= RowSum.BLOCK;
    return (wide || narrow)
        && kind.x == ElementType.FLOAT32
        && kind.y == ElementType.FLOAT32
        && kind.direct
        && (kind.residual == null || kind.addsOnTheWay && kind.sum == kind.in)
        && kind.rounding == null
        && norm.part() == norm.width()
        && norm.width() <= RowSum.SUPER_BLOCK;
  }

  private static StatisticKernel statistic(
      boolean float64,
      int bits,
      Memory x,
      Memory residual,
      boolean centred,
      StatisticKernel.Width width) {
    return StatisticKernel.of(new StatisticKernel.Spec(float64, bits, x, residual, centred, width));
  }

  private static OutputKernel output(
      boolean float64,
      int bits,
      Memory in,
      Memory out,
      boolean centred,
      Scaling scaling,
      boolean gain,
      boolean bias) {
    return OutputKernel.of(
        new OutputKernel.Spec(float64, bits, in, out, centred, scaling, gain, bias));
  }

  /** The plan of a call: the last one if it fits. */
  public static NormPlan of(NormCall call, NormPlan last) {
    Kind kind = Kind.of(call);
    return last != null && last.kind.equals(kind) ? last : new NormPlan(kind, call.choices());
  }
}
