package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;

/** Measures in the last places of numbers of a type. */
final class LastPlace {
  private LastPlace() {}

  /** The distance from a number to the next larger one of a type. */
  static double ulp(double value, ElementType type) {
    double scale = Math.scalb(1.0, Math.max(Math.getExponent(value), -1022));
    return Math.max(type.minValue(), scale * 2 * type.unitRoundoff());
  }

  /** How many positive float32 numbers there are from one value of the type to the next. */
  static int step(ElementType type) {
    return Math.max(1, (int) (type.unitRoundoff() / ElementType.FLOAT32.unitRoundoff()));
  }
}
