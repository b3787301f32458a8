package io.github.rmsnorm4j.oracle;

import static org.junit.jupiter.api.Assertions.fail;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.NormCase.Statistics;

/**
 * This library's answer beside others. The judge of float32 and 16-bit rows is libtorch in float64,
 * given the same numbers; its own errors are too small to count there.
 */
final class Comparison {
  /** Roundings of another implementation, with those of the row sums that do not cancel out. */
  private static final int OTHERS_ROUNDINGS = 12;

  /** The same for how a LayerNorm's mean is rounded, in the output and by way of the variance. */
  private static final int OTHERS_MEAN_ROUNDINGS = 4;

  final NormCase norm;
  final double[] ours;
  final double[] exact;
  private final Statistics statistics;

  Comparison(NormCase norm) {
    this.norm = norm;
    this.ours = norm.normalise();
    this.exact = Libtorch.norm(norm, ElementType.FLOAT64);
    this.statistics = Libtorch.statistics(norm);
  }

  /**
   * Every element is as near the exact result as the library promises. The arithmetic rounds rstd,
   * two products and, where there is a bias, the sum; LayerNorm takes the mean off in two steps
   * before. A 16-bit type is one rounding more, of its own size.
   */
  void assertWithinContract() {
    for (int i = 0; i < ours.length; i++) {
      double bound = contractBound(i);
      if (!(Math.abs(ours[i] - exact[i]) <= bound) && !bothNaN(ours[i], exact[i])) {
        fail(
            String.format(
                "element %d of %s: %s, libtorch in float64 has %s, the bound is %s",
                i, norm, ours[i], exact[i], bound));
      }
    }
  }

  private double contractBound(int i) {
    double roundings = (norm.centred() ? 5 : 3) + (norm.bias() == null ? 0 : 1) + 0.01;
    double bound =
        roundings * 0x1p-24 * magnitude(i)
            + Float.MIN_VALUE * (1 + gain(i))
            + 0x1p-47 * displacement(i / norm.width()) * gain(i);
    return norm.type() == ElementType.FLOAT32
        ? bound
        : bound + rounding(Math.abs(exact[i]) + bound, norm.type());
  }

  /**
   * Every element is as near another implementation's as the errors of both allow: in units of the
   * type at the row's largest element, since an error of a row's statistic is common to the row.
   *
   * <p>Ours are at most 4 roundings, LayerNorm's 6. The other's mean is off by a few units of the
   * mean itself, which may be many times the deviation.
   */
  void assertNear(String name, double[] theirs) {
    for (int row = 0; row < norm.rows(); row++) {
      double tolerance = tolerance(row, norm.type());
      for (int i = row * norm.width(); i < (row + 1) * norm.width(); i++) {
        if (!(Math.abs(ours[i] - theirs[i]) <= tolerance) && !bothNaN(ours[i], theirs[i])) {
          fail(
              String.format(
                  "element %d of %s: %s, %s has %s, the tolerance is %s",
                  i, norm, ours[i], name, theirs[i], tolerance));
        }
      }
    }
  }

  /** How far this library's answer and libtorch's, or two of libtorch's, may be apart in a type. */
  double tolerance(int row, ElementType type) {
    double largest = 0;
    double largestGain = 0;
    for (int i = row * norm.width(); i < (row + 1) * norm.width(); i++) {
      largest = Math.max(largest, magnitude(i));
      largestGain = Math.max(largestGain, gain(i));
    }
    double unit = type == ElementType.FLOAT64 ? 0x1p-53 : 0x1p-24;
    double tolerance =
        unit
            * ((OTHERS_ROUNDINGS + (norm.centred() ? 6 : 4)) * largest
                + OTHERS_MEAN_ROUNDINGS * displacement(row) * (largest + largestGain));
    if (type.bytes() > 2) {
      return tolerance + 2 * Elements.smallest(type);
    }
    // Both round to the type, and libtorch, whose RMSNorm has no bias, once more to add ours.
    int roundings = norm.bias() != null && !norm.centred() ? 3 : 2;
    return tolerance + roundings * rounding(largest + tolerance, type);
  }

  /**
   * The error of an answer in units of the type at that element. NaN where an element is so near a
   * far-off mean, or so small, that the unit says nothing.
   */
  double error(double[] answer, int i) {
    double unit = unit(norm.type());
    double least =
        Math.max(
            0x1p-23 * displacement(i / norm.width()) * gain(i),
            Elements.smallest(norm.type()) / unit);
    double magnitude = magnitude(i);
    return magnitude >= least ? Math.abs(answer[i] - exact[i]) / (unit * magnitude) : Double.NaN;
  }

  /** |normalised * gain| + |bias|, which an element's errors are in proportion to. */
  private double magnitude(int i) {
    double bias = norm.bias() == null ? 0 : norm.bias()[i % norm.width()];
    return Math.abs(exact[i] - bias) + Math.abs(bias);
  }

  private double gain(int i) {
    return norm.gain() == null ? 1 : Math.abs(norm.gain()[i % norm.width()]);
  }

  /** How far a row's mean is from zero, in deviations. */
  private double displacement(int row) {
    return Math.abs(statistics.mean()[row]) * statistics.rstd()[row];
  }

  /** The largest error of one rounding to a type of a number of this size. */
  private static double rounding(double value, ElementType type) {
    return Math.max(unit(type) * value, Elements.smallest(type) / 2);
  }

  private static double unit(ElementType type) {
    return Math.scalb(1.0, -Elements.precision(type));
  }

  private static boolean bothNaN(double a, double b) {
    return Double.isNaN(a) && Double.isNaN(b);
  }
}
