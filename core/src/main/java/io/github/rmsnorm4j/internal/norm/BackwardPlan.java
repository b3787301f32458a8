package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.kernel.GradientKernel;
import io.github.rmsnorm4j.internal.kernel.GradientSumKernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.StatisticKernel;

/**
 * The kernels of one kind of backward call. A norm keeps the last one, as it does {@link NormPlan}.
 */
public final class BackwardPlan {
  /** What kernels depend on, beside the norm. */
  private record Kind(
      ElementType dy,
      Memory dyMemory,
      ElementType kept,
      Memory keptMemory,
      boolean fromOutput,
      boolean keptStatistic,
      ElementType residual,
      Memory residualMemory,
      ElementType dx,
      Memory dxMemory,
      boolean gain,
      boolean bias,
      boolean gainGradient,
      boolean biasGradient) {
    static Kind of(BackwardCall call) {
      RowMemory residual = call.residual();
      return new Kind(
          call.dy().type(),
          call.dy().memory(),
          call.kept().type(),
          call.kept().memory(),
          call.fromOutput(),
          call.rstd() != null,
          residual == null ? null : residual.type(),
          residual == null ? Memory.HEAP : residual.memory(),
          call.dx().type(),
          call.dx().memory(),
          call.gain() != null,
          call.bias() != null,
          call.gainGradient(),
          call.biasGradient());
    }
  }

  private final Kind kind;

  /** For where no statistic was kept. */
  final StatisticKernel statistic;

  /** From sums to the statistic, and its range. */
  final Statistic roots;

  /** From the sums of gradients to what the output takes of them. */
  final Slope slope;

  final GradientSumKernel sums;
  final GradientKernel gradient;

  /** Codecs of the types of 16 bits, null for the others. */
  final NarrowCodec dyCodec;

  final NarrowCodec keptCodec;
  final NarrowCodec residualCodec;
  final NarrowCodec dxCodec;

  private BackwardPlan(Kind kind, NormChoices norm) {
    this.kind = kind;
    int bits = norm.vectorBits();
    boolean float64 = kind.kept == ElementType.FLOAT64;
    boolean centred = norm.centred();
    Memory x = kind.keptMemory;
    StatisticKernel.Width width = StatisticKernel.Width.of(norm.width(), norm.part());
    int lanes = norm.part() == norm.width() ? width.lanes() : 0;
    statistic =
        kind.keptStatistic
            ? null
            : StatisticKernel.of(new StatisticKernel.Spec(float64, bits, x, null, centred, width));
    roots = Statistic.of(norm, false, float64);
    slope = new Slope(norm, float64);
    sums =
        GradientSumKernel.of(
            new GradientSumKernel.Spec(
                float64,
                bits,
                x,
                kind.dyMemory,
                centred,
                kind.fromOutput,
                kind.gain,
                kind.bias,
                lanes));
    gradient =
        GradientKernel.of(
            new GradientKernel.Spec(
                float64,
                bits,
                x,
                kind.dyMemory,
                kind.dxMemory,
                kind.residualMemory,
                centred,
                kind.fromOutput,
                kind.gain,
                kind.bias,
                kind.residual != null,
                kind.gainGradient,
                kind.biasGradient,
                lanes > 0));
    dyCodec = NarrowCodec.of(kind.dy, bits);
    keptCodec = NarrowCodec.of(kind.kept, bits);
    residualCodec = kind.residual == null ? null : NarrowCodec.of(kind.residual, bits);
    dxCodec = NarrowCodec.of(kind.dx, bits);
  }

  /** The plan of a call: the last one if it fits. */
  public static BackwardPlan of(BackwardCall call, BackwardPlan last) {
    Kind kind = Kind.of(call);
    return last != null && last.kind.equals(kind) ? last : new BackwardPlan(kind, call.choices());
  }
}
