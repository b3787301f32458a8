package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowStatistics;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.reference.Definitions;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Rows normalised without epsilon, and Y in proportion to them. What an epsilon changes is one
 * factor for each row.
 */
final class Ratios {
  /** How many of the roundings of an element a shape may be off. */
  private static final double ROUNDINGS = 4;

  private final Sample sample;

  private final int unit;
  private final double[] rstd;
  private final double[] normalised;
  private final double[] gain;
  private final double[] bias;
  private final double[] y;
  private final double[] x;
  private final double roundoff;
  private final double greatest;
  private final double least;

  Ratios(Sample sample, NormSpec base) {
    this.sample = sample;
    least = ROUNDINGS * sample.y.type().minValue();
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

  /** Half of the differences are below 2^misfit times what roundings may make. */
  int misfit(NormSpec spec) {
    return misfit(spec, 0, rstd.length);
  }

  /** The rows of which more than half is as near as roundings allow. */
  int[] nearRows(NormSpec spec) {
    int units = sample.width() / unit;
    return IntStream.range(0, sample.rows())
        .filter(row -> rstd[row * units] > 0 && misfit(spec, row * units, (row + 1) * units) <= 0)
        .toArray();
  }

  private int misfit(NormSpec spec, int first, int end) {
    int[] exponents = new int[Double.MAX_EXPONENT - Double.MIN_EXPONENT + 4];
    int counted = 0;
    for (int u = first; u < end; u++) {
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

  /** Epsilon: the middle of what the rows with the least squares give; 0 if there is none. */
  double epsilon(double offset, EpsilonPlacement place) {
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
    double middle = solutions.length == 0 ? 0 : solutions[solutions.length / 2];
    return Double.isFinite(middle) ? middle : 0;
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
