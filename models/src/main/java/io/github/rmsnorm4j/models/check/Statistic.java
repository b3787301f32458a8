package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.reference.Definitions;
import java.util.Locale;

/**
 * What rstd is made of.
 *
 * @param part the number of elements that the mean square is of
 * @param epsilon added to the mean square, at the place that is named
 * @param place where epsilon is
 * @param sample whether the sum of squares is divided by the part - 1: the sample variance
 */
record Statistic(int part, double epsilon, EpsilonPlacement place, boolean sample) {
  Statistic(int part, double epsilon, EpsilonPlacement place) {
    this(part, epsilon, place, false);
  }

  /** With another epsilon and its place. */
  Statistic with(double otherEpsilon, EpsilonPlacement at) {
    return new Statistic(part, otherEpsilon, at, sample);
  }

  /** What epsilon is added to, of a mean square or variance. */
  double moment(double m) {
    return sample ? m * part / (part - 1) : m;
  }

  /** The root of a mean square or variance. */
  double root(double m) {
    return Definitions.root(moment(m), epsilon, place);
  }

  String words(int width) {
    String at = place == EpsilonPlacement.INSIDE ? "" : " " + place.name().toLowerCase(Locale.ROOT);
    String of = part == width ? "" : ", first %s of %s".formatted(part, width);
    return "eps " + epsilonText(epsilon) + at + of;
  }

  /** Short, and 2^-23 by its name. */
  static String epsilonText(double epsilon) {
    if (epsilon == 0x1p-23) {
      return "2^-23";
    }
    if (epsilon == 0) {
      return "0";
    }
    String[] parts = String.format(Locale.ROOT, "%.3e", epsilon).split("e");
    return parts[0].replaceFirst("\\.?0+$", "") + "e" + Integer.parseInt(parts[1]);
  }
}
