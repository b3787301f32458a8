package io.github.rmsnorm4j.models;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Names of tensors as rules write them: {@code layers.{layer}.attn.{q,k}_proj}. A list in braces
 * stands for each of its entries, a word in braces for what is given for it. Nothing nests, and a
 * name is made only when it is asked for.
 */
record NamePattern(List<Part> parts) {

  /**
   * Text, a list or a word.
   *
   * @param word the word in braces, null for text and for a list
   * @param texts the entries of a list, or the one text
   */
  private record Part(String word, List<String> texts) {
    @Override
    public String toString() {
      String inner = word == null ? String.join(",", texts) : word;
      return word == null && texts.size() == 1 ? inner : "{" + inner + "}";
    }
  }

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if its braces are not in pairs, or within others; the message
   *     is the end of a sentence about the pattern
   */
  static NamePattern of(String text) {
    List<Part> parts = new ArrayList<>();
    int at = 0;
    for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
      addText(parts, text.substring(at, open));
      int close = text.indexOf('}', open);
      if (close < 0) {
        throw new IllegalArgumentException("has a '{' without a '}'");
      }
      String inner = text.substring(open + 1, close);
      if (inner.contains("{")) {
        throw new IllegalArgumentException("has braces within braces");
      }
      boolean list = inner.contains(",");
      parts.add(list ? new Part(null, List.of(inner.split(",", -1))) : new Part(inner, null));
      at = close + 1;
    }
    addText(parts, text.substring(at));
    return new NamePattern(parts);
  }

  private static void addText(List<Part> parts, String text) {
    if (text.contains("}")) {
      throw new IllegalArgumentException("has a '}' without a '{'");
    }
    parts.add(new Part(null, List.of(text)));
  }

  /** The words in braces, in their order. */
  List<String> words() {
    return parts.stream().map(Part::word).filter(word -> word != null).distinct().toList();
  }

  /** The pattern with values for words; one that nothing is given for stays. */
  NamePattern with(Map<String, ?> words) {
    return new NamePattern(
        parts.stream()
            .map(
                part ->
                    part.word != null && words.containsKey(part.word)
                        ? new Part(null, List.of(words.get(part.word).toString()))
                        : part)
            .toList());
  }

  /** What comes before a word, once for each entry of the lists there; empty if it has no word. */
  Stream<String> before(String word) {
    List<String> words = parts.stream().map(part -> part.word).collect(Collectors.toList());
    int at = words.indexOf(word);
    return at < 0 ? Stream.empty() : new NamePattern(parts.subList(0, at)).names(Map.of());
  }

  /**
   * Every name that the pattern stands for: the entries of lists in their order, and for each the
   * numbers of the layers.
   *
   * @param counts how many layers each counter counts
   */
  Stream<String> names(Map<String, Integer> counts) {
    List<String> counters = words().stream().filter(counts::containsKey).toList().reversed();
    return LongStream.range(0, (long) size(counts)).mapToObj(n -> name(n, counters, counts));
  }

  /** One name; the digits of its number are the choices, those of counters change first. */
  private String name(long number, List<String> counters, Map<String, Integer> counts) {
    long left = number;
    Map<String, Long> at = new HashMap<>();
    for (String counter : counters) {
      at.put(counter, left % counts.get(counter));
      left /= counts.get(counter);
    }
    String[] name = new String[parts.size()];
    for (int i = name.length - 1; i >= 0; i--) {
      Part part = parts.get(i);
      if (part.word == null) {
        name[i] = part.texts.get((int) (left % part.texts.size()));
        left /= part.texts.size();
      } else {
        Long layer = at.get(part.word);
        name[i] = layer == null ? part.toString() : layer.toString();
      }
    }
    return String.join("", name);
  }

  /** How many names the pattern stands for; infinite where a {@code double} does not hold it. */
  double size(Map<String, Integer> counts) {
    double size = 1;
    for (Part part : parts) {
      size *= part.word == null ? part.texts.size() : 1;
    }
    for (String word : words()) {
      size *= counts.getOrDefault(word, 1);
    }
    return size;
  }

  /** As it is written. */
  @Override
  public String toString() {
    return parts.stream().map(Part::toString).collect(Collectors.joining());
  }
}
