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
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.Random;

/** A random choice of everything, the rows, and what the library makes of them. */
final class Pair {
  static final List<Double> EPSILONS =
      List.of(1e-6, 1e-5, 0x1p-23, 1e-8, 1e-12, 1e-9, 1e-3, 0x1p-52, 0.0);
  private static final double[] SHARES = {0.0625, 0.125, 0.25, 0.5, 0.75};

  final Random random;
  final ElementType x;
  final ElementType y;
  final ElementType gainType;
  final NormSpec.Kind kind;
  final boolean bias;
  final boolean residual;
  final ElementType residualType;
  final CastOrder order;
  final double epsilon;
  final EpsilonPlacement place;
  final double offset;
  final int width;
  final int part;
  final int groups;
  final ResidualRounding rounding;
  double scale;
  double mean;
  final double[][] gain;
  final double[][] biases;

  Pair(long seed) {
    this(seed, null, null);
  }

  /** The same with an epsilon and a share of a row of its own; null for random ones. */
  Pair(long seed, Double ownEpsilon, Double ownShare) {
    // Neighbouring seeds would begin alike.
    random = new Random(seed * 0x9E3779B97F4A7C15L);
    x = pick(ElementType.values());
    int k = random.nextInt(8);
    kind =
        k < 2 ? NormSpec.Kind.LAYER_NORM : k == 2 ? NormSpec.Kind.L2_NORM : NormSpec.Kind.RMS_NORM;
    boolean rms = kind == NormSpec.Kind.RMS_NORM;
    gainType = random.nextInt(5) == 0 ? null : pick(ElementType.values());
    y = random.nextInt(4) == 0 ? pick(ElementType.values()) : x;
    order = rms ? pick(CastOrder.values()) : CastOrder.FLOAT32;
    bias = order == CastOrder.FLOAT32 && random.nextInt(4) == 0;
    residual = random.nextInt(4) == 0;
    residualType = seed % 3 == 0 && x.bytes() == 2 ? ElementType.FLOAT32 : x;
    rounding = pick(ResidualRounding.values());
    double any = EPSILONS.get(random.nextInt(EPSILONS.size()));
    epsilon = ownEpsilon == null ? any : ownEpsilon;
    place = pick(EpsilonPlacement.values());
    boolean offsets = gainType != null && order != CastOrder.T5;
    offset = offsets ? random.nextInt(3) : 0;
    int n = 16 + random.nextInt(random.nextBoolean() ? 120 : 500);
    double share = SHARES[random.nextInt(SHARES.length)];
    int form = random.nextInt(4);
    groups = form == 1 ? 1 << 1 + random.nextInt(3) : 1;
    width = n / (2 * groups) * 2 * groups;
    boolean whole = !rms || groups > 1 || form > 0 && ownShare == null;
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
        kind,
        OptionalDouble.of(epsilon),
        place,
        order,
        offset,
        RowPart.of(part, width),
        rounding,
        Gate.NONE,
        RowGroups.ofCount(groups));
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

  Sample sample(double[][] rowsX, double[][] rowsY, double[][] residuals) {
    return Sample.of(
        TypedRows.of(rowsX, x),
        residual ? TypedRows.of(residuals, residualType) : null,
        TypedRows.of(rowsY, y),
        gain == null ? null : TypedRows.of(gain, gainType),
        bias ? TypedRows.of(biases, ElementType.FLOAT32) : null,
        TypedRows.numbers(rowsX.length));
  }

  /** Whether a finding is the norm that was drawn. */
  boolean isTruth(Finding found) {
    boolean none = found.residualRounding() == null;
    ResidualRounding rounded =
        residualType == ElementType.FLOAT32 && x.bytes() == 2 ? ResidualRounding.LAST : rounding;
    EpsilonPlacement at = epsilon == 0 ? EpsilonPlacement.INSIDE : place;
    return found.kind().replace(" ", "_").toUpperCase(Locale.ROOT).startsWith(kindWord())
        && found.castOrders().contains(word(order))
        && found.epsilon() == epsilon
        && found.epsilonAt().equals(word(at))
        && found.part() == (part < width ? part : width / groups)
        && found.groups() == groups
        && (found.gainOffset() == offset || gain == null)
        && found.gainType() == null
        && (none || found.residualRounding().equals(word(rounded)));
  }

  private String kindWord() {
    return kind.name().replace("_NORM", "").replace("RMS", "RMSNORM").replace("LAYER", "LAYERNORM");
  }

  private static String word(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
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
        "kind " + kind,
        bias ? "bias" : "no bias",
        part < width ? "partial" : groups > 1 ? "groups" : "whole");
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

  /** What another system makes of them, with sums in float32 in an order of its own. */
  double[][] written(double[][] rowsX, int sums) {
    double[][] made = new double[rowsX.length][width];
    int unit = width / groups;
    for (int row = 0; row < made.length; row++) {
      for (int from = 0; from < width; from += unit) {
        written(rowsX[row], made[row], from, unit, sums);
      }
    }
    return made;
  }

  private void written(double[] from, double[] to, int start, int unit, int sums) {
    float[] v = new float[unit];
    for (int i = 0; i < unit; i++) {
      v[i] = (float) from[start + i];
    }
    boolean layer = kind == NormSpec.Kind.LAYER_NORM;
    float m = layer ? sum(v, 0, unit, sums) / unit : 0;
    int counted = part < width ? part : unit;
    float[] squares = new float[counted];
    for (int i = 0; i < unit; i++) {
      v[i] -= m;
      if (i < counted) {
        squares[i] = v[i] * v[i];
      }
    }
    float s = sum(squares, 0, counted, sums);
    s = kind == NormSpec.Kind.L2_NORM ? s : s / counted;
    float e = (float) epsilon;
    float root =
        switch (place) {
          case INSIDE -> (float) Math.sqrt(s + e);
          case OUTSIDE -> (float) Math.sqrt(s) + e;
          case FLOOR -> Math.max((float) Math.sqrt(s), e);
        };
    for (int i = 0; i < unit; i++) {
      float g = gain == null ? 1 : (float) offset + (float) gain[0][start + i];
      float n =
          order == CastOrder.DIVIDED || order == CastOrder.ONNX ? v[i] / root : v[i] * (1 / root);
      if (order == CastOrder.GAIN_FIRST) {
        n = v[i] * (1 / root * g);
      } else {
        boolean casts = (order == CastOrder.LLAMA || order == CastOrder.ONNX) && x.bytes() == 2;
        n = casts ? (float) x.round(n) : n;
        n = gain == null ? n : n * g;
      }
      n = bias ? n + (float) biases[0][start + i] : n;
      to[start + i] = y.round(n);
    }
  }

  /** One after the other, in pairs, or in eight lanes. */
  static float sum(float[] terms, int from, int to, int order) {
    if (order == 1) {
      int middle = (from + to) / 2;
      return to - from == 1 ? terms[from] : sum(terms, from, middle, 1) + sum(terms, middle, to, 1);
    }
    float[] lanes = new float[order == 0 ? 1 : 8];
    for (int i = from; i < to; i++) {
      lanes[i % lanes.length] += terms[i];
    }
    float sum = 0;
    for (float lane : lanes) {
      sum += lane;
    }
    return sum;
  }

  /** Whether {@link #written} has this norm. */
  boolean isWritten() {
    return x != ElementType.FLOAT64
        && !residual
        && epsilon > 1e-13
        && List.of(
                CastOrder.FLOAT32,
                CastOrder.LLAMA,
                CastOrder.ONNX,
                CastOrder.DIVIDED,
                CastOrder.GAIN_FIRST)
            .contains(order)
        && !(order == CastOrder.GAIN_FIRST && gain == null);
  }

  @Override
  public String toString() {
    return "%s -> %s, gain %s, %s, bias %s, residual %s %s %s, %s, eps %s %s, offset %s, part %d of %d, groups %d, scale %s, mean %s"
        .formatted(
            x,
            y,
            gainType,
            kind,
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
            groups,
            scale,
            mean);
  }
}
