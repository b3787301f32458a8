package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.Printable;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Names of tensors as rules write them: {@code layers.{layer}.attn.{q,k}_proj}. A list in braces
 * stands for each of its entries, a word in braces for what is given for it. Nothing nests, and a
 * name is made only when it is asked for.
 *
 * @param text the pattern as it is written
 */
record NamePattern(String text) {
  private static final Pattern BRACES = Pattern.compile("\\{([^{}]*)}");
  private static final Pattern LIST = Pattern.compile("\\{([^{}]*,[^{}]*)}");

  /**
   * Checks the braces.
   *
   * @throws IllegalArgumentException if they are not in pairs, or some are within others
   */
  NamePattern {
    String outside = BRACES.matcher(text).replaceAll("");
    if (outside.contains("{") || outside.contains("}")) {
      throw new IllegalArgumentException(
          "'%s' has braces that are not in pairs, or within others"
              .formatted(Printable.shortened(text)));
    }
  }

  /** The words in braces, in their order. */
  List<String> words() {
    return BRACES
        .matcher(text)
        .results()
        .map(braces -> braces.group(1))
        .filter(word -> !word.contains(","))
        .distinct()
        .toList();
  }

  /** The pattern with values for words; a word that nothing is given for stays. */
  NamePattern with(Map<String, ?> words) {
    String with = text;
    for (Map.Entry<String, ?> word : words.entrySet()) {
      with = with(with, word.getKey(), word.getValue());
    }
    return new NamePattern(with);
  }

  private static String with(String text, String word, Object value) {
    return text.replace("{" + word + "}", value.toString());
  }

  /** What comes before a word, once for each entry of the lists there; empty if it has no word. */
  Stream<String> before(String word) {
    int at = text.indexOf("{" + word + "}");
    return at < 0 ? Stream.empty() : new NamePattern(text.substring(0, at)).names(Map.of());
  }

  /**
   * Every name that the pattern stands for: the entries of lists in their order, and for each the
   * numbers of the layers.
   *
   * @param counts how many layers each counter counts
   */
  Stream<String> names(Map<String, Integer> counts) {
    Stream<String> names = Stream.of(text);
    for (long lists = lists().count(); lists > 0; lists--) {
      names = names.flatMap(NamePattern::entries);
    }
    for (String word : words()) {
      if (counts.containsKey(word)) {
        names =
            names.flatMap(
                name ->
                    IntStream.range(0, counts.get(word))
                        .mapToObj(layer -> with(name, word, layer)));
      }
    }
    return names;
  }

  private Stream<MatchResult> lists() {
    return LIST.matcher(text).results();
  }

  /** A name with each entry in place of its first list. */
  private static Stream<String> entries(String name) {
    Matcher list = LIST.matcher(name);
    return list.find()
        ? Stream.of(list.group(1).split(",", -1))
            .map(entry -> name.substring(0, list.start()) + entry + name.substring(list.end()))
        : Stream.of(name);
  }

  /** How many names the pattern stands for; infinite where a {@code double} does not hold it. */
  double size(Map<String, Integer> counts) {
    double lists =
        lists().mapToDouble(list -> list.group(1).split(",", -1).length).reduce(1, (a, b) -> a * b);
    return words().stream()
        .mapToDouble(word -> counts.getOrDefault(word, 1))
        .reduce(lists, (a, b) -> a * b);
  }

  @Override
  public String toString() {
    return text;
  }
}
