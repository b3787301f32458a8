package io.github.rmsnorm4j;

import java.util.SplittableRandom;
import java.util.function.Consumer;

/** What a norm is, apart from its gain and bias: one of each choice. */
record Variant(
    boolean centred,
    int width,
    int part,
    double epsilon,
    EpsilonPlacement placement,
    CastOrder order,
    double gainOffset,
    ResidualRounding rounding) {
  private static final CastOrder[] ORDERS = CastOrder.values();
  private static final EpsilonPlacement[] PLACEMENTS = EpsilonPlacement.values();
  private static final ResidualRounding[] ROUNDINGS = ResidualRounding.values();
  private static final int[] PARTS = {1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 65536, 65537};

  /** As the papers have it. */
  static Variant plain(boolean centred, int width, double epsilon) {
    return new Variant(
        centred,
        width,
        width,
        epsilon,
        EpsilonPlacement.INSIDE,
        CastOrder.FLOAT32,
        0,
        ResidualRounding.FIRST);
  }

  /** Any that can be built, RMSNorm or LayerNorm by chance too. */
  static Variant any(SplittableRandom random, int width, double epsilon) {
    return any(random, random.nextBoolean(), width, epsilon);
  }

  /** Any that can be built, each choice by chance; the usual ones in about half of all. */
  static Variant any(SplittableRandom random, boolean centred, int width, double epsilon) {
    CastOrder order = centred || random.nextBoolean() ? CastOrder.FLOAT32 : anyOf(random, ORDERS);
    boolean partial = !centred && random.nextInt(3) == 0;
    double[] offsets = {0, 0, 1, -1, 0.1};
    double offset = order == CastOrder.T5 ? 0 : offsets[random.nextInt(offsets.length)];
    return new Variant(
        centred,
        width,
        partial ? anyPart(random, width) : width,
        epsilon,
        random.nextBoolean() ? EpsilonPlacement.INSIDE : anyOf(random, PLACEMENTS),
        order,
        offset,
        anyOf(random, ROUNDINGS));
  }

  /** The same, measured whole. */
  Variant whole() {
    return new Variant(centred, width, width, epsilon, placement, order, gainOffset, rounding);
  }

  /** The same with cast order FLOAT32, because the other orders refuse a bias. */
  Variant withoutCasts() {
    CastOrder none = CastOrder.FLOAT32;
    return new Variant(centred, width, part, epsilon, placement, none, gainOffset, rounding);
  }

  private static <T> T anyOf(SplittableRandom random, T[] values) {
    return values[random.nextInt(values.length)];
  }

  private static int anyPart(SplittableRandom random, int width) {
    return random.nextBoolean()
        ? random.nextInt(1, width + 1)
        : Math.min(width, PARTS[random.nextInt(PARTS.length)]);
  }

  /** The norm, with what else is said to its builder. */
  Norm norm(Consumer<Norm.Builder<?>> more) {
    Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
    builder.epsilon(epsilon).epsilonPlacement(placement);
    builder.gainOffset(gainOffset).residualRounding(rounding);
    more.accept(builder);
    return switch (builder) {
      case LayerNorm.Builder layer -> layer.build();
      case RmsNorm.Builder rms -> rms.part(part).castOrder(order).build();
    };
  }
}
