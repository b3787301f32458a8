package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.oracle.GradientCase.Gradients;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The gradients of a case written out in float64, right or with one mistake, and the sizes of what
 * they are made of: errors are in proportion to those, also where the terms cancel.
 */
final class GradientFormula {
  /** Formulas that are near the right one. */
  enum Mistake {
    NONE,
    /** LayerNorm's term in an RMSNorm. */
    MEAN_TAKEN_OFF,
    /** LayerNorm without it. */
    MEAN_LEFT_IN,
    /** As if the statistic did not depend on the row. */
    STATISTIC_FIXED,
    /** All of a row divided by its length, where the statistic is of a part. */
    WHOLE_ROW,
    /** Gemma's weight without the 1. */
    OFFSET_FORGOTTEN,
    /** The sum's own gradient not added. */
    RESIDUAL_FORGOTTEN,
    /** dgain of the rows as they are. */
    NOT_NORMALISED,
    /** dgain with the gain in it. */
    GAIN_TWICE;

    boolean appliesTo(GradientCase of) {
      return switch (this) {
        case NONE, STATISTIC_FIXED, NOT_NORMALISED, GAIN_TWICE -> true;
        case MEAN_TAKEN_OFF -> !of.norm().centred();
        case MEAN_LEFT_IN -> of.norm().centred();
        case WHOLE_ROW -> of.norm() == PublishedNorm.PARTIAL;
        case OFFSET_FORGOTTEN -> of.norm() == PublishedNorm.GEMMA;
        case RESIDUAL_FORGOTTEN -> of.norm().adds();
      };
    }
  }

  /** What the gradients are in exact arithmetic, nearly, or what the mistake makes of them. */
  final Gradients gradients;

  /** The terms of each element of dx, without their signs. */
  final double[] dxSize;

  /** The terms of dgain and of dbias, added up without their signs. */
  final double[] dgainSize;

  final double[] dbiasSize;

  private final GradientCase of;
  private final Mistake mistake;
  private final double meanShare;

  /**
   * @param fromOutput whether the normalised rows are taken back from outputs, out of which a bias
   *     may cancel
   * @param meanShare the error of a mean beside a rounding of what it is taken off: 1 in the
   *     arithmetic's type
   */
  GradientFormula(GradientCase of, Mistake mistake, boolean fromOutput, double meanShare) {
    this.meanShare = meanShare;
    this.of = of;
    this.mistake = mistake;
    double[] dx = new double[of.x().length];
    boolean bias = of.bias() != null;
    gradients =
        new Gradients(
            dx,
            of.residual() == null ? null : dx,
            new double[of.width()],
            bias ? new double[of.width()] : null);
    dxSize = new double[dx.length];
    dgainSize = new double[of.width()];
    dbiasSize = new double[of.width()];
    for (int row = 0; row < of.rows(); row++) {
      row(row, fromOutput);
    }
  }

  private void row(int row, boolean fromOutput) {
    int n = of.width();
    int start = row * n;
    int part = of.norm().part(n);
    boolean centred = of.norm().centred();
    double mean = centred ? sum(n, i -> of.normalised()[start + i]) / n : 0;
    double root = sum(part, i -> Math.pow(of.normalised()[start + i] - mean, 2)) / part;
    boolean outside = of.norm().placement() == EpsilonPlacement.OUTSIDE;
    double r = 1 / (outside ? Math.sqrt(root) + of.epsilon() : Math.sqrt(root + of.epsilon()));
    double share = outside ? 1 - r * of.epsilon() : 1;
    double largest =
        IntStream.range(start, start + n)
            .mapToDouble(i -> Math.abs(of.normalised()[i]))
            .max()
            .getAsDouble();
    double meanSize = centred ? (Math.abs(mean) + meanShare * largest) * r : 0;
    double[] h = new double[n];
    double[] xh = new double[n];
    double[] xhSize = new double[n];
    for (int i = 0; i < n; i++) {
      double x = of.normalised()[start + i];
      h[i] = of.dy()[start + i] * gain(i);
      xh[i] = (x - mean) * r;
      double back = fromOutput && of.bias() != null ? Math.abs(of.bias()[i] / gain(i)) : 0;
      xhSize[i] = Math.abs(xh[i]) + meanSize + 2 * back;
    }
    learned(start, xh, xhSize);
    int divisor = mistake == Mistake.WHOLE_ROW ? n : part;
    double m = sum(n, i -> h[i] * xh[i]) / divisor / share;
    double used = mistake == Mistake.STATISTIC_FIXED ? 0 : m;
    boolean takenOff =
        mistake == Mistake.MEAN_TAKEN_OFF || centred && mistake != Mistake.MEAN_LEFT_IN;
    double c = takenOff ? sum(n, i -> h[i]) / n : 0;
    // Where epsilon is most of an outside root, 1 - r * eps has few bits.
    double mSize = sum(n, i -> Math.abs(h[i]) * xhSize[i]) / part / (share * share);
    double cSize = centred ? sum(n, i -> Math.abs(h[i])) / n : 0;
    for (int i = 0; i < n; i++) {
      boolean inPart = i < part;
      double own = of.dresidual() == null ? 0 : of.dresidual()[start + i];
      double added = mistake == Mistake.RESIDUAL_FORGOTTEN ? 0 : own;
      gradients.dx()[start + i] = (h[i] - c - (inPart ? xh[i] * used : 0)) * r + added;
      double second = inPart ? xhSize[i] * mSize : 0;
      dxSize[start + i] = (Math.abs(h[i]) + cSize + second) * r + Math.abs(own);
    }
  }

  private void learned(int start, double[] xh, double[] xhSize) {
    for (int i = 0; i < xh.length; i++) {
      double dy = of.dy()[start + i];
      double factor = mistake == Mistake.GAIN_TWICE ? gain(i) : 1;
      boolean raw = mistake == Mistake.NOT_NORMALISED;
      gradients.dgain()[i] += dy * factor * (raw ? of.normalised()[start + i] : xh[i]);
      dgainSize[i] += Math.abs(dy) * xhSize[i];
      dbiasSize[i] += Math.abs(dy);
      if (of.bias() != null) {
        gradients.dbias()[i] += dy;
      }
    }
  }

  private double gain(int i) {
    boolean offset = of.norm() == PublishedNorm.GEMMA && mistake != Mistake.OFFSET_FORGOTTEN;
    return (offset ? 1 : 0) + of.weight()[i];
  }

  /** Compensated, as the JDK has it: as good as exact. */
  private static double sum(int count, IntToDoubleFunction term) {
    return IntStream.range(0, count).mapToDouble(term).sum();
  }
}
