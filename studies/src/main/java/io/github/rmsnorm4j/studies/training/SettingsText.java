package io.github.rmsnorm4j.studies.training;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Settings as a line of text: the numbers in the record's order, to the last bit. */
final class SettingsText {
  private static final int NUMBERS = 9;

  private SettingsText() {}

  static String write(TrainingSettings s) {
    return Stream.<Number>of(
            s.steps(),
            s.warmup(),
            s.rate(),
            s.finalShare(),
            s.weightDecay(),
            s.beta1(),
            s.beta2(),
            s.epsilon(),
            s.clip())
        .map(Number::toString)
        .collect(Collectors.joining(" "));
  }

  static TrainingSettings parse(Path path, String text) throws FormatException {
    String[] words = text.split(" ", NUMBERS + 1);
    try {
      if (words.length == NUMBERS) {
        long steps = wholeNumber(path, "settings: steps", words[0]);
        long warmup = wholeNumber(path, "settings: warmup", words[1]);
        double[] d = Arrays.stream(words, 2, NUMBERS).mapToDouble(Double::parseDouble).toArray();
        return new TrainingSettings(steps, warmup, d[0], d[1], d[2], d[3], d[4], d[5], d[6]);
      }
    } catch (NumberFormatException _) {
      // Told below.
    } catch (IllegalArgumentException e) {
      throw new FormatException(path, "settings: " + e.getMessage());
    }
    throw new FormatException(
        path, "settings are '" + Printable.shortened(text) + "', nine numbers are needed");
  }

  static long wholeNumber(Path path, String name, String text) throws FormatException {
    try {
      long value = Long.parseLong(text);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException _) {
      // Told below.
    }
    throw new FormatException(
        path, name + " is '" + Printable.shortened(text) + "', it must be a whole number");
  }
}
