package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.Rows;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;

/** A random choice of everything, the rows, and what the library makes of them. */
final class Pair {
  final Random random;
  final ElementType x;
  final ElementType y;
  final ElementType gainType;
  final boolean layer;
  final boolean bias;
  final boolean residual;
  final ElementType residualType;
  final CastOrder order;
  final double epsilon;
  final EpsilonPlacement place;
  final double offset;
  final int width;
  final int part;
  final ResidualRounding rounding;
  double scale;
  double mean;
  private final double[][] gain;
  private final double[][] biases;

  Pair(long seed) {
    this(seed, null, null);
  }

  /** The same with an epsilon and a share of a row of its own; null for random ones. */
  Pair(long seed, Double ownEpsilon, Double ownShare) {
    // Neighbouring seeds would begin alike.
    random = new Random(seed * 0x9E3779B97F4A7C15L);
    x = pick(ElementType.values());
    layer = random.nextInt(4) == 0;
    gainType = random.nextInt(5) == 0 ? null : pick(ElementType.values());
    y = random.nextInt(4) == 0 ? pick(ElementType.values()) : x;
    order = layer ? CastOrder.FLOAT32 : pick(CastOrder.values());
    bias = order == CastOrder.FLOAT32 && random.nextInt(4) == 0;
    residual = random.nextInt(4) == 0;
    residualType = seed % 3 == 0 && x.bytes() == 2 ? ElementType.FLOAT32 : x;
    rounding = pick(ResidualRounding.values());
    double any = Hypotheses.EPSILONS.get(random.nextInt(Hypotheses.EPSILONS.size()));
    epsilon = ownEpsilon == null ? any : ownEpsilon;
    place = pick(EpsilonPlacement.values());
    boolean offsets = gainType != null && order != CastOrder.T5;
    offset = offsets ? Hypotheses.OFFSETS.get(random.nextInt(3)) : 0;
    width = 8 + random.nextInt(random.nextBoolean() ? 120 : 500);
    double share = Hypotheses.SHARES.get(random.nextInt(Hypotheses.SHARES.size()));
    boolean whole = layer || random.nextInt(3) > 0 && ownShare == null;
    part = whole ? width : (int) Math.ceil(width * (ownShare == null ? share : ownShare));
    // float16 has no rows as small as that, and no mean squares of rows as small as e^-3.
    double ofNone = x == ElementType.FLOAT16 && everyStep() ? -3 : -7;
    double least = x == ElementType.FLOAT16 ? ofNone : -14;
    scale = Math.exp(least + random.nextDouble() * (3 - least));
    mean = random.nextInt(3) == 0 ? 4 * random.nextDouble() : 0;
    gain = gainType == null ? null : TypedRows.random(random, 1, width, 1, 0.7, gainType);
    biases = bias ? TypedRows.random(random, 1, width, 0, 0.3, ElementType.FLOAT32) : null;
  }

  /** Whether every step is rounded to the type of the row, if that has 16 bits. */
  boolean everyStep() {
    return order == CastOrder.NONE || order == CastOrder.NONE_DIVIDED;
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }

  NormSpec spec() {
    return new NormSpec(
        layer ? NormSpec.Kind.LAYER_NORM : NormSpec.Kind.RMS_NORM,
        OptionalDouble.of(epsilon),
        place,
        order,
        offset,
        RowPart.of(part, width),
        rounding,
        Gate.NONE,
        RowGroups.WHOLE);
  }

  private Norm norm(NormSpec of) {
    NormBuilder<?> builder = of.builder(width);
    if (gain != null) {
      builder.gain(TypedRows.of(gain, gainType));
    }
    if (bias) {
      builder.bias(TypedRows.of(biases, ElementType.FLOAT32));
    }
    return builder.build();
  }

  double[][] rows(int count) {
    return TypedRows.random(random, count, width, mean, scale, x);
  }

  /** One that is stored in 32 bits holds numbers of the type of the rows too. */
  double[][] residuals(int count) {
    return residual ? TypedRows.random(random, count, width, mean, scale, x) : null;
  }

  Sample sample(double[][] rowsX, double[][] residuals) {
    return sample(rowsX, made(rowsX, residuals), residuals);
  }

  /** What the library makes of the rows. */
  double[][] made(double[][] rowsX, double[][] residuals) {
    return made(spec(), rowsX, residuals);
  }

  /** What a norm of these choices and this gain and bias makes of them. */
  double[][] made(NormSpec of, double[][] rowsX, double[][] residuals) {
    Rows out = TypedRows.of(new double[rowsX.length][width], y);
    if (residual) {
      norm(of).addAndApply(TypedRows.of(rowsX, x), TypedRows.of(residuals, residualType), out);
    } else {
      norm(of).apply(TypedRows.of(rowsX, x), out);
    }
    return TypedRows.values(out);
  }

  Sample sample(double[][] rowsX, double[][] rowsY, double[][] residuals) {
    double[] g = gain == null ? null : gain[0];
    Sample sample =
        new Sample(
            width, x, y, g, gainType, bias ? biases[0] : null, residual ? residualType : null);
    for (int row = 0; row < rowsX.length; row++) {
      sample.add(rowsX[row], rowsY[row], residual ? residuals[row] : null);
    }
    return sample;
  }

  /** The value of each choice, in words. */
  List<String> choices() {
    return List.of(
        "x " + x,
        "y " + y,
        "gain " + gainType,
        "order " + order,
        "place " + place,
        "residual " + (residual ? rounding : null),
        "eps " + epsilon,
        "offset " + offset,
        layer ? "LayerNorm" : "RMSNorm",
        bias ? "bias" : "no bias",
        part < width ? "partial" : "whole");
  }

  /** The true norm among the forms of the check. */
  Hypothesis truth(Types types) {
    Form form = Choices.of(spec(), types).form(types);
    EpsilonPlacement at = epsilon == 0 ? EpsilonPlacement.INSIDE : place;
    return new Hypothesis(form, List.of(), new Statistic(part, epsilon, at));
  }

  boolean isTruth(Hypothesis norm, Types types) {
    Hypothesis truth = truth(types);
    return norm.form().equals(truth.form()) && norm.statistic().equals(truth.statistic());
  }

  @Override
  public String toString() {
    return "%s -> %s, gain %s, layer %s, bias %s, residual %s %s %s, %s, eps %s %s, offset %s, part %d of %d, scale %s, mean %s"
        .formatted(
            x,
            y,
            gainType,
            layer,
            bias,
            residual,
            residualType,
            rounding,
            order,
            epsilon,
            place,
            offset,
            part,
            width,
            scale,
            mean);
  }
}
