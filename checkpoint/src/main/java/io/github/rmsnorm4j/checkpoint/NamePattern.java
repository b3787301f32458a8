package io.github.rmsnorm4j.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of tensors as rules write them: {@code layers.{layer}.attn.{q,k}_proj}. A list in braces
 * stands for each of its entries, a word in braces for what is given for it.
 */
final class NamePattern {
  private static final Pattern LIST = Pattern.compile("\\{([^{}]*,[^{}]*)\\}");
  private static final Pattern WORD = Pattern.compile("\\{(\\w+)\\}");

  private NamePattern() {}

  /** The pattern with each entry of its lists, in their order. */
  static List<String> lists(String pattern) {
    Matcher list = LIST.matcher(pattern);
    if (!list.find()) {
      return List.of(pattern);
    }
    List<String> all = new ArrayList<>();
    for (String entry : list.group(1).split(",")) {
      all.addAll(lists(pattern.substring(0, list.start()) + entry + pattern.substring(list.end())));
    }
    return all;
  }

  /** The words in braces, in their order. */
  static List<String> words(String pattern) {
    return WORD.matcher(pattern).results().map(found -> found.group(1)).distinct().toList();
  }

  /** Replaces words; one that nothing is given for stays. */
  static String with(String pattern, Map<String, ?> words) {
    return WORD.matcher(pattern)
        .replaceAll(
            found -> {
              Object value = words.get(found.group(1));
              return Matcher.quoteReplacement(value == null ? found.group() : value.toString());
            });
  }

  /**
   * Every name that the pattern stands for.
   *
   * @param counts how many layers each counter counts
   */
  static List<String> all(String pattern, Map<String, Integer> counts) {
    List<String> names = new ArrayList<>();
    for (String name : lists(pattern)) {
      names.addAll(counted(name, counts));
    }
    return names;
  }

  /** How many names the pattern stands for; infinite where a {@code double} does not hold it. */
  static double size(String pattern, Map<String, Integer> counts) {
    double size = 1;
    for (MatchResult list : LIST.matcher(pattern).results().toList()) {
      size *= list.group(1).split(",").length;
    }
    for (String word : words(pattern)) {
      size *= counts.getOrDefault(word, 1);
    }
    return size;
  }

  private static List<String> counted(String name, Map<String, Integer> counts) {
    for (String word : words(name)) {
      if (counts.containsKey(word)) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < counts.get(word); i++) {
          names.addAll(counted(with(name, Map.of(word, i)), counts));
        }
        return names;
      }
    }
    return List.of(name);
  }
}
