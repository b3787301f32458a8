package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.reference.Definitions;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The norms whose formula comes near to Y: their kind, epsilon, part, groups and gain offset. Where
 * they round is left open.
 */
final class Shapes {
  /** Epsilons of frameworks and models. */
  static final List<Double> EPSILONS =
      List.of(1e-6, 1e-5, 0x1p-23, 1e-8, 1e-12, 1e-9, 1e-3, 0x1p-52, 0.0);

  /** What is added to the gain: 1 for a gain that is stored as g - 1, 2 if it was added twice. */
  static final List<Double> OFFSETS = List.of(0.0, 1.0, 2.0);

  /** Shares of a row that partial RMSNorm takes its mean square of. */
  private static final List<Double> SHARES = List.of(0.0625, 0.125, 0.25, 0.5, 0.75);

  /** Where few rows are near to no shape, so many are searched for rows that are. */
  private static final int MORE_ROWS = 64;

  private static final int LEAST_MORE_ROWS = 16;
  private static final int MORE_ELEMENTS = 1 << 12;

  /** So many shapes are kept where none is near. */
  private static final int CLOSEST = 6;

  private static final int DIGITS = 6;

  /** Widths of models have about 25. */
  private static final int MOST_GROUPINGS = 48;

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
    bases(sample.width(), shares).forEach(this::measure);
  }

  /** Measures a few rows; where no shape is near to half of them, rows that one is near to. */
  static Shapes of(Sample sample, List<Double> shares) {
    Sample few = Search.few(sample);
    Shapes shapes = new Shapes(few, shares);
    if (shapes.hasNear()) {
      return shapes;
    }
    int rows = Math.clamp(MORE_ELEMENTS / sample.width(), LEAST_MORE_ROWS, MORE_ROWS);
    Sample more = sample.few(rows);
    int[] near =
        bases(sample.width(), shares).stream()
            .map(base -> nearRows(more, base))
            .max(Comparator.comparingInt(found -> found.length))
            .orElseThrow();
    return near.length == 0 ? shapes : new Shapes(Search.few(more.pick(near)), shares);
  }

  /** The most rows that are near to a base with one epsilon and offset. */
  private static int[] nearRows(Sample sample, NormSpec base) {
    Ratios ratios = new Ratios(sample, base);
    return of(base, sample.gain != null).stream()
        .filter(spec -> spec.epsilonPlacement() == EpsilonPlacement.INSIDE)
        .map(ratios::nearRows)
        .max(Comparator.comparingInt(rows -> rows.length))
        .orElseThrow();
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
    int[] counts = groupCounts(width);
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      NormSpec whole = kind == rms.kind() ? rms : kind(kind).withEpsilon(0);
      if (kind != rms.kind()) {
        bases.add(whole);
      }
      IntStream.of(counts).forEach(n -> bases.add(whole.withGroups(RowGroups.ofCount(n))));
    }
    return bases;
  }

  /** Up to 64 groups, and more of 32 elements or more. */
  private static int[] groupCounts(int width) {
    return IntStream.rangeClosed(2, width / 2)
        .filter(n -> width % n == 0 && (n <= 64 || width / n >= 32))
        .limit(MOST_GROUPINGS)
        .toArray();
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

  /** The few rows. */
  Sample sample() {
    return sample;
  }

  /** Whether any is near. */
  boolean hasNear() {
    return listed.stream().anyMatch(shape -> shape.misfit <= 0) || !solved.isEmpty();
  }

  /** Those that are near, or else the closest few. */
  List<Shape> near() {
    List<Shape> near = listed.stream().filter(shape -> shape.misfit <= 0).toList();
    return near.isEmpty()
        ? listed.stream().sorted(Comparator.comparingInt(Shape::misfit)).limit(CLOSEST).toList()
        : near;
  }

  /** Near shapes with an epsilon of no list; the one with fewer digits first. */
  List<Shape> solved() {
    return solved;
  }

  private void measure(NormSpec base) {
    Ratios ratios = new Ratios(sample, base);
    for (NormSpec spec : of(base, sample.gain != null)) {
      listed.add(new Shape(spec, true, ratios.misfit(spec)));
    }
    for (double offset : sample.gain == null ? List.of(0.0) : OFFSETS) {
      for (EpsilonPlacement place : EpsilonPlacement.values()) {
        double epsilon = ratios.epsilon(offset, place);
        NormSpec like = base.withGainOffset(offset).withEpsilonPlacement(place);
        for (int digits = 1; digits <= DIGITS && epsilon > 0; digits++) {
          MathContext rounding = new MathContext(digits, RoundingMode.HALF_EVEN);
          double rounded = new BigDecimal(epsilon).round(rounding).doubleValue();
          NormSpec spec = like.withEpsilon(rounded);
          boolean known = EPSILONS.contains(rounded);
          if (!known && solved.stream().noneMatch(other -> other.spec.equals(spec))) {
            solved.add(new Shape(spec, false, ratios.misfit(spec)));
          }
        }
      }
    }
    solved.removeIf(shape -> shape.misfit > 0);
  }
}
