package io.github.rmsnorm4j;

import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * What a norm is, apart from its gain and bias.
 *
 * @param spec with an epsilon that does not depend on the type of the rows
 */
record Variant(int width, NormSpec spec) {
  private static final CastOrder[] ORDERS = CastOrder.values();
  private static final EpsilonPlacement[] PLACEMENTS = EpsilonPlacement.values();
  private static final ResidualRounding[] ROUNDINGS = ResidualRounding.values();
  private static final int[] PARTS = {1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 65536, 65537};

  /** One of each choice. */
  Variant(
      boolean centred,
      int width,
      int part,
      double epsilon,
      EpsilonPlacement placement,
      CastOrder order,
      double gainOffset,
      ResidualRounding rounding) {
    this(
        width,
        (centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM)
            .withEpsilon(epsilon)
            .withEpsilonPlacement(placement)
            .withCastOrder(order)
            .withGainOffset(gainOffset)
            .withPart(RowPart.of(part, width))
            .withResidualRounding(rounding));
  }

  boolean centred() {
    return spec.isCentred();
  }

  /** Elements that the statistic is taken from. */
  int part() {
    return spec.part().elements(width);
  }

  /** How many groups a row has. */
  int groups() {
    return spec.groups().count(width);
  }

  /** The same variant for rows with groups, unless it is partial. */
  Variant withGroups(int count) {
    return part() < width ? this : new Variant(width, spec.withGroups(RowGroups.ofCount(count)));
  }

  /** The norm of which each group is a row. */
  Variant ofGroup() {
    return new Variant(width / groups(), spec.withGroups(RowGroups.WHOLE));
  }

  double epsilon() {
    return spec.epsilon().getAsDouble();
  }

  EpsilonPlacement placement() {
    return spec.epsilonPlacement();
  }

  CastOrder order() {
    return spec.castOrder();
  }

  double gainOffset() {
    return spec.gainOffset();
  }

  ResidualRounding rounding() {
    return spec.residualRounding();
  }

  Gate gate() {
    return spec.gate();
  }

  /** As the papers have it. */
  static Variant plain(boolean centred, int width, double epsilon) {
    NormSpec usual = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    return new Variant(width, usual.withEpsilon(epsilon));
  }

  /** The same variant of an L2 norm, which has no cast order and no part. */
  Variant ofLength() {
    NormSpec plain = spec.withCastOrder(CastOrder.FLOAT32).withPart(RowPart.WHOLE);
    return new Variant(width, plain.withKind(NormSpec.Kind.L2_NORM));
  }

  /** What the sum of squares is divided by: nothing in an L2 norm. */
  int count() {
    return spec.isOfLength() ? 1 : part();
  }

  /** Any that can be built, of any kind by chance too. */
  static Variant any(SplittableRandom random, int width, double epsilon) {
    return any(random, random.nextBoolean(), width, epsilon);
  }

  /** Any that can be built, each choice by chance; the usual ones in about half of all. */
  static Variant any(SplittableRandom random, boolean centred, int width, double epsilon) {
    CastOrder order = centred || random.nextBoolean() ? CastOrder.FLOAT32 : anyOf(random, ORDERS);
    boolean partial = !centred && random.nextInt(3) == 0;
    double[] offsets = {0, 0, 1, -1, 0.1};
    double offset = order == CastOrder.T5 ? 0 : offsets[random.nextInt(offsets.length)];
    Variant any =
        new Variant(
            centred,
            width,
            partial ? anyPart(random, width) : width,
            epsilon,
            random.nextBoolean() ? EpsilonPlacement.INSIDE : anyOf(random, PLACEMENTS),
            order,
            offset,
            anyOf(random, ROUNDINGS));
    return !centred && random.nextInt(6) == 0 ? any.ofLength() : any;
  }

  /** The same, measured whole. */
  Variant whole() {
    return new Variant(width, spec.withPart(RowPart.WHOLE));
  }

  /** The same variant with a gate. */
  Variant with(Gate gate) {
    return new Variant(width, spec.withGate(gate));
  }

  /** The same with cast order FLOAT32, because the other orders refuse a bias. */
  Variant withoutCasts() {
    return new Variant(width, spec.withCastOrder(CastOrder.FLOAT32));
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
  Norm norm(Consumer<NormBuilder<?>> more) {
    NormBuilder<?> builder =
        switch (spec.kind()) {
          case RMS_NORM -> RmsNorm.builder(width);
          case LAYER_NORM -> LayerNorm.builder(width);
          case L2_NORM -> Norm.l2(width);
        };
    builder.epsilon(epsilon()).epsilonPlacement(placement());
    builder.gainOffset(gainOffset()).residualRounding(rounding());
    builder.gate(gate()).groupCount(groups());
    more.accept(builder);
    return switch (builder) {
      case LayerNorm.Builder layer -> layer.build();
      case L2Norm.Builder length -> length.build();
      case RmsNorm.Builder rms -> rms.part(part()).castOrder(order()).build();
    };
  }
}
