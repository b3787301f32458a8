package io.github.rmsnorm4j.cli;

import picocli.CommandLine.TypeConversionException;

/** Reads the numbers of options. */
final class NumberText {
  private NumberText() {}

  /** A number; one that no float64 can hold is refused, though it has digits. */
  static Double number(String text) {
    double number;
    try {
      number = Double.parseDouble(text);
    } catch (NumberFormatException _) {
      throw new TypeConversionException("'" + text + "' is not a number");
    }
    if (Double.isInfinite(number) && text.chars().anyMatch(Character::isDigit)) {
      throw new TypeConversionException(
          "'" + text + "' is beyond the largest number, " + Double.MAX_VALUE);
    }
    return number;
  }

  /** A whole number. */
  static Integer integer(String text) {
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException _) {
      throw new TypeConversionException(
          "'%s' is not a whole number of at most %s".formatted(text, Integer.MAX_VALUE));
    }
  }
}
