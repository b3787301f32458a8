package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.RowStatistics;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.reference.Definitions;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The norms whose formula comes near to Y: their kind, epsilon, part, groups and gain offset. Where
 * they round is left open. A norm without epsilon is applied once for each kind, part and groups;
 * what another epsilon changes is one factor for each row.
 */
final class Shapes {
  /** Epsilons of frameworks and models. */
  static final List<Double> EPSILONS =
      List.of(1e-6, 1e-5, 0x1p-23, 1e-8, 1e-12, 1e-9, 1e-3, 0x1p-52, 0.0);

  /** What is added to the gain: 1 for a gain that is stored as g - 1, 2 if it was added twice. */
  static final List<Double> OFFSETS = List.of(0.0, 1.0, 2.0);

  /** Shares of a row that partial RMSNorm takes its mean square of. */
  private static final List<Double> SHARES = List.of(0.0625, 0.125, 0.25, 0.5, 0.75);

  /** How many groups are tried, and of how many elements. */
  private static final int[] GROUP_COUNTS = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64};

  private static final int[] GROUP_SIZES = {32, 64, 80, 96, 112, 128, 160, 192, 256, 512};

  /** How many of the roundings of an element a shape may be off. */
  private static final double ROUNDINGS = 4;

  /** So many shapes are kept where none is near. */
  private static final int CLOSEST = 6;

  private static final int DIGITS = 6;

  private final Sample sample;
  private final List<NormSpec> bases = new ArrayList<>();
  private final List<Shape> listed = new ArrayList<>();
  private final List<Shape> solved = new ArrayList<>();

  /**
   * A norm and how far it is.
   *
   * @param misfit the exponent of the middle difference, in units of what roundings may be
   */
  record Shape(NormSpec spec, boolean listed, int misfit) {}

  /**
   * Measures.
   *
   * @param sample a few rows
   * @param shares of a row, in addition to {@link #SHARES}
   */
  Shapes(Sample sample, List<Double> shares) {
    this.sample = sample;
    bases(sample.width(), shares).forEach(base -> new Ratios(base).measure());
  }

  /** Kinds, parts and groups, with epsilon 0. */
  static List<NormSpec> bases(int width, List<Double> shares) {
    NormSpec rms = NormSpec.RMSNORM.withEpsilon(0);
    List<NormSpec> bases = new ArrayList<>(List.of(rms));
    List<Double> all = new ArrayList<>(SHARES);
    all.addAll(shares);
    Set<Integer> parts = new LinkedHashSet<>();
    for (double share : all) {
      parts.add(Definitions.part(width, share));
      parts.add(Math.max(1, Definitions.partOfPublishedCode(width, share)));
    }
    parts.remove(width);
    parts.forEach(part -> bases.add(rms.withPart(RowPart.of(part, width))));
    IntStream sizes = IntStream.of(GROUP_SIZES).filter(n -> width % n == 0).map(n -> width / n);
    int[] counts =
        IntStream.concat(IntStream.of(GROUP_COUNTS), sizes)
            .filter(n -> n > 1 && width % n == 0 && width / n > 1)
            .distinct()
            .toArray();
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      NormSpec whole = kind == rms.kind() ? rms : kind(kind).withEpsilon(0);
      if (kind != rms.kind()) {
        bases.add(whole);
      }
      IntStream.of(counts).forEach(n -> bases.add(whole.withGroups(RowGroups.ofCount(n))));
    }
    return bases;
  }

  private static NormSpec kind(NormSpec.Kind kind) {
    return kind == NormSpec.Kind.LAYER_NORM
        ? NormSpec.LAYERNORM
        : NormSpec.L2.withEpsilonPlacement(EpsilonPlacement.INSIDE);
  }

  /** A base with each epsilon and offset. */
  static List<NormSpec> of(NormSpec base, boolean hasGain) {
    List<NormSpec> all = new ArrayList<>();
    for (double offset : hasGain ? OFFSETS : List.of(0.0)) {
      for (EpsilonPlacement place : EpsilonPlacement.values()) {
        for (double epsilon : EPSILONS) {
          if (epsilon > 0 || place == EpsilonPlacement.INSIDE) {
            all.add(base.withGainOffset(offset).withEpsilon(epsilon).withEpsilonPlacement(place));
          }
        }
      }
    }
    return all;
  }

  /** Those that are near, or else the closest few. */
  List<Shape> near() {
    List<Shape> near = listed.stream().filter(shape -> shape.misfit() <= 0).toList();
    return near.isEmpty()
        ? listed.stream().sorted(Comparator.comparingInt(Shape::misfit)).limit(CLOSEST).toList()
        : near;
  }

  /** Near shapes with an epsilon of no list; the one with fewer digits first. */
  List<Shape> solved() {
    return solved;
  }

  /** Rows normalised without epsilon, and Y in proportion to them. */
  private final class Ratios {
    final NormSpec base;
    final int unit;
    final double[] rstd;
    final double[] normalised;
    final double[] gain;
    final double[] bias;
    final double[] y;
    final double[] x;
    final double roundoff;
    final double greatest;
    final double least = ROUNDINGS * sample.y.type().minValue();

    Ratios(NormSpec base) {
      this.base = base;
      int width = sample.width();
      unit = width / base.groups().count(width);
      Norm norm = base.builder(width).threads(1).backend(Backend.scalar()).build();
      boolean float64 = sample.x.type() == ElementType.FLOAT64;
      ElementType compute = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
      Rows rows = sample.residual == null ? sample.x : sample.sum(sample.x.type(), compute);
      Rows out = Sample.memory(ElementType.FLOAT64, rows.rows(), width);
      norm.apply(rows, out);
      rstd = new double[(int) rows.rows() * (width / unit)];
      norm.statistics(
          rows,
          base.isCentred()
              ? RowStatistics.of(new double[rstd.length], rstd)
              : RowStatistics.of(rstd));
      normalised = Sample.elements(out).toArray();
      x = Sample.elements(rows).toArray();
      y = Sample.elements(sample.y).toArray();
      greatest = Arrays.stream(y).map(Math::abs).filter(Double::isFinite).max().orElse(0);
      double sums = 2 * Fit.window(sample.x.type(), unit) * compute.unitRoundoff();
      roundoff = ROUNDINGS * unitRoundoff() + sums;
      gain = parameter(sample.gain, 1);
      bias = parameter(sample.bias, 0);
    }

    private double[] parameter(Rows given, double none) {
      double[] values = new double[sample.width()];
      Arrays.fill(values, none);
      return given == null ? values : Sample.elements(given).toArray();
    }

    void measure() {
      for (NormSpec spec : of(base, sample.gain != null)) {
        listed.add(new Shape(spec, true, misfit(spec)));
      }
      for (double offset : sample.gain == null ? List.of(0.0) : OFFSETS) {
        for (EpsilonPlacement place : EpsilonPlacement.values()) {
          double epsilon = solve(offset, place);
          for (int digits = 1; isEpsilon(epsilon) && digits <= DIGITS; digits++) {
            double rounded = rounded(epsilon, digits);
            NormSpec spec =
                base.withGainOffset(offset).withEpsilon(rounded).withEpsilonPlacement(place);
            int misfit = EPSILONS.contains(rounded) ? Integer.MAX_VALUE : misfit(spec);
            if (misfit <= 0 && solved.stream().noneMatch(other -> other.spec().equals(spec))) {
              solved.add(new Shape(spec, false, misfit));
            }
          }
        }
      }
    }

    private boolean isEpsilon(double value) {
      return value > 0 && value < Double.MAX_VALUE;
    }

    private double rounded(double value, int digits) {
      return new BigDecimal(value)
          .round(new MathContext(digits, RoundingMode.HALF_EVEN))
          .doubleValue();
    }

    /** Half of the differences are below 2^misfit times what roundings may make. */
    private int misfit(NormSpec spec) {
      int[] exponents = new int[Double.MAX_EXPONENT - Double.MIN_EXPONENT + 4];
      int counted = 0;
      for (int u = 0; u < rstd.length; u++) {
        double root = 1 / rstd[u];
        double ratio =
            root
                / Definitions.root(
                    root * root, spec.epsilon().orElseThrow(), spec.epsilonPlacement());
        for (int i = u * unit; i < (u + 1) * unit && root > 0; i++) {
          int column = i % sample.width();
          double g = spec.gainOffset() + gain[column];
          double difference =
              Math.abs(y[i] - bias[column] - normalised[i] * ratio * g)
                  / allowed(i, column, Math.abs(ratio * rstd[u] * g));
          int exponent =
              Double.isNaN(difference) ? Double.MAX_EXPONENT : Math.getExponent(difference);
          exponents[exponent - Double.MIN_EXPONENT + 1]++;
          counted++;
        }
      }
      int middle = -1;
      for (int below = 0; below * 2 <= counted && middle < exponents.length - 1; ) {
        below += exponents[++middle];
      }
      return middle + Double.MIN_EXPONENT;
    }

    /** What roundings and sums in another order may change. */
    private double allowed(int i, int column, double scale) {
      double size =
          Math.max(Math.max(Math.abs(y[i]), Math.abs(bias[column])), Math.abs(x[i]) * scale);
      return roundoff * (sample.codes == null ? size : Math.max(size, greatest)) + least;
    }

    /** The middle of what the rows with the least squares give. */
    private double solve(double offset, EpsilonPlacement place) {
      Integer[] units =
          IntStream.range(0, rstd.length)
              .filter(u -> rstd[u] > 0 && Double.isFinite(rstd[u]))
              .boxed()
              .sorted(Comparator.comparingDouble(u -> -rstd[u]))
              .toArray(Integer[]::new);
      double[] solutions =
          Arrays.stream(units)
              .limit(Math.ceilDiv(units.length, 4))
              .mapToDouble(u -> epsilon(u, offset, place))
              .sorted()
              .toArray();
      return solutions.length == 0 ? 0 : solutions[solutions.length / 2];
    }

    private double epsilon(int u, double offset, EpsilonPlacement place) {
      double[] ratios =
          IntStream.range(u * unit, (u + 1) * unit)
              .mapToDouble(
                  i -> {
                    int column = i % sample.width();
                    double g = offset + gain[column];
                    return (y[i] - bias[column]) / (normalised[i] * g);
                  })
              .filter(Double::isFinite)
              .sorted()
              .toArray();
      double root = 1 / rstd[u] / (ratios.length == 0 ? Double.NaN : ratios[ratios.length / 2]);
      return switch (place) {
        case INSIDE -> root * root - 1 / (rstd[u] * rstd[u]);
        case OUTSIDE -> root - 1 / rstd[u];
        case FLOOR -> root;
      };
    }
  }

  /** Of the narrowest type around. */
  private double unitRoundoff() {
    if (sample.codes != null) {
      return sample.codes.type().toString().startsWith("f8") ? 0x1p-6 : 0x1p-9;
    }
    Set<ElementType> types = new LinkedHashSet<>(sample.inputs());
    types.addAll(sample.outputs());
    if (sample.gain != null) {
      types.add(sample.gain.type());
    }
    return types.stream().mapToDouble(ElementType::unitRoundoff).max().orElseThrow();
  }
}
