package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.kernel.GradientKernel;
import io.github.rmsnorm4j.internal.kernel.GradientSumKernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.StatisticKernel;

/** The kernels of one backward call. */
final class BackwardPlan {
  /** For where no statistic was kept. */
  final StatisticKernel statistic;

  /** From sums to the statistic, and its range. */
  final Statistic roots;

  final GradientSumKernel sums;
  final GradientKernel gradient;

  /** Codecs of the types of 16 bits, null for the others. */
  final NarrowCodec dyCodec;

  final NarrowCodec keptCodec;
  final NarrowCodec residualCodec;
  final NarrowCodec dxCodec;

  BackwardPlan(BackwardCall call) {
    NormChoices norm = call.choices();
    int bits = norm.vectorBits();
    boolean float64 = call.float64();
    boolean centred = norm.centred();
    boolean gain = call.gain() != null;
    boolean bias = call.bias() != null;
    Memory x = call.kept().memory();
    Memory dy = call.dy().memory();
    RowMemory residual = call.residual();
    StatisticKernel.Width width = StatisticKernel.Width.of(norm.width(), norm.part());
    statistic =
        call.rstd() != null
            ? null
            : StatisticKernel.of(new StatisticKernel.Spec(float64, bits, x, null, centred, width));
    roots = Statistic.of(norm, false, float64);
    int lanes = norm.part() == norm.width() && !call.fromOutput() ? width.lanes() : 0;
    sums =
        GradientSumKernel.of(
            new GradientSumKernel.Spec(
                float64, bits, x, dy, centred, call.fromOutput(), gain, bias, lanes));
    gradient =
        GradientKernel.of(
            new GradientKernel.Spec(
                float64,
                bits,
                x,
                dy,
                call.dx().memory(),
                residual == null ? Memory.HEAP : residual.memory(),
                centred,
                call.fromOutput(),
                gain,
                bias,
                residual != null,
                call.gainGradient(),
                call.biasGradient(),
                lanes));
    dyCodec = NarrowCodec.of(call.dy().type(), bits);
    keptCodec = NarrowCodec.of(call.kept().type(), bits);
    ElementType residualType = residual == null ? ElementType.FLOAT32 : residual.type();
    residualCodec = NarrowCodec.of(residualType, bits);
    dxCodec = NarrowCodec.of(call.dx().type(), bits);
  }
}
