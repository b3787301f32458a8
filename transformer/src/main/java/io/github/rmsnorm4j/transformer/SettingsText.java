package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import java.nio.file.Path;

/** Settings as a line of text: the numbers in the record's order, to the last bit. */
final class SettingsText {
  private static final int NUMBERS = 9;

  private SettingsText() {}

  static String write(TrainingSettings s) {
    return String.join(
        " ",
        Long.toString(s.steps()),
        Long.toString(s.warmup()),
        Double.toString(s.rate()),
        Double.toString(s.finalShare()),
        Double.toString(s.weightDecay()),
        Double.toString(s.beta1()),
        Double.toString(s.beta2()),
        Double.toString(s.epsilon()),
        Double.toString(s.clip()));
  }

  static TrainingSettings parse(Path path, String text) throws FormatException {
    String[] words = text.split(" ", NUMBERS + 1);
    if (words.length != NUMBERS) {
      throw new FormatException(path, "settings are '" + cut(text) + "', nine numbers are needed");
    }
    try {
      return new TrainingSettings(
          wholeNumber(path, "settings: steps", words[0]),
          wholeNumber(path, "settings: warmup", words[1]),
          Double.parseDouble(words[2]),
          Double.parseDouble(words[3]),
          Double.parseDouble(words[4]),
          Double.parseDouble(words[5]),
          Double.parseDouble(words[6]),
          Double.parseDouble(words[7]),
          Double.parseDouble(words[8]));
    } catch (NumberFormatException e) {
      throw new FormatException(path, "settings are '" + cut(text) + "', nine numbers are needed");
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, "settings: " + e.getMessage());
    }
  }

  static long wholeNumber(Path path, String name, String text) throws FormatException {
    try {
      long value = Long.parseLong(text);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new FormatException(path, name + " is '" + cut(text) + "', it must be a whole number");
  }

  private static String cut(String text) {
    return text.length() > 80 ? text.substring(0, 80) + "..." : text;
  }
}
