package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.Printable;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
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
      with = with.replace("{" + word.getKey() + "}", word.getValue().toString());
    }
    return new NamePattern(with);
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
    for (List<String> list : lists()) {
      String braces = "{" + String.join(",", list) + "}";
      names = names.flatMap(name -> list.stream().map(entry -> replaced(name, braces, entry)));
    }
    for (String word : words()) {
      if (counts.containsKey(word)) {
        names =
            names.flatMap(
                name ->
                    IntStream.range(0, counts.get(word))
                        .mapToObj(layer -> name.replace("{" + word + "}", "" + layer)));
      }
    }
    return names;
  }

  /** The entries of each list. */
  private List<List<String>> lists() {
    return LIST.matcher(text).results().map(list -> List.of(list.group(1).split(",", -1))).toList();
  }

  /** A name with a text in place of the first of another. */
  private static String replaced(String name, String first, String text) {
    int at = name.indexOf(first);
    return name.substring(0, at) + text + name.substring(at + first.length());
  }

  /** How many names the pattern stands for; infinite where a {@code double} does not hold it. */
  double size(Map<String, Integer> counts) {
    return DoubleStream.concat(
            lists().stream().mapToDouble(List::size),
            words().stream().mapToDouble(word -> counts.getOrDefault(word, 1)))
        .reduce(1, (a, b) -> a * b);
  }

  @Override
  public String toString() {
    return text;
  }
}
