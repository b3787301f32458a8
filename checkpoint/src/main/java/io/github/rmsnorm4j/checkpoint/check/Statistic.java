package io.github.rmsnorm4j.checkpoint.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.util.Locale;

/**
 * What rstd is made of.
 *
 * @param part the number of elements that the mean square is of
 * @param epsilon keeps the root from 0
 * @param place where epsilon is
 */
record Statistic(int part, double epsilon, EpsilonPlacement place) {
  /** The root of a mean square or variance. */
  double root(double m) {
    return switch (place) {
      case INSIDE -> Math.sqrt(m + epsilon);
      case OUTSIDE -> Math.sqrt(m) + epsilon;
      case FLOOR -> Math.max(Math.sqrt(m), epsilon);
    };
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
