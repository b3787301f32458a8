package io.github.rmsnorm4j.checkpoint;

import io.github.rmsnorm4j.checkpoint.Family.NormRule;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What the names in a family's rules stand for in one model. */
final class FamilyNames {
  static final String WEIGHT = ".weight";
  static final String BIAS = ".bias";

  /** More names than any model has tensors. */
  private static final int MOST_NAMES = 1 << 20;

  private final Family family;
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private final String prefix;

  FamilyNames(TensorFile file, ModelSettings settings, Family family) throws FormatException {
    this.family = family;
    file.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    for (String counter : family.counts().keySet()) {
      boolean lacks = lacks(family.mayLack().get(counter));
      counts.put(counter, lacks ? 0 : settings.count(family.counts().get(counter)));
    }
    requireFewNames(file);
    prefix = prefix(file);
  }

  /** A few braces too many would fill the memory. */
  private void requireFewNames(TensorFile file) throws FormatException {
    double size = 0;
    for (String pattern : patterns()) {
      size += NamePattern.size(pattern, counts);
    }
    if (size > MOST_NAMES) {
      throw new FormatException(
          file.path(),
          String.format(
              Locale.ROOT,
              "cannot be read by the rules of %s: they stand for %.3g names, at most %s are tried",
              family.name(),
              size,
              MOST_NAMES));
    }
  }

  private boolean lacks(String sign) {
    return sign != null && tensors.keySet().stream().noneMatch(name -> matches(sign, name));
  }

  private String prefix(TensorFile file) throws FormatException {
    List<String> tried = new ArrayList<>();
    for (String prefix : family.prefixes()) {
      String name =
          NamePattern.with(family.embeddings().getFirst(), Map.of("prefix", prefix)) + WEIGHT;
      if (tensors.containsKey(name)) {
        return prefix;
      }
      tried.add(name);
    }
    throw new FormatException(
        file.path(),
        "lacks %s, which a model of the family %s has"
            .formatted(String.join(" or ", tried), family.name()));
  }

  /** The tensor of that name, null if there is none. */
  Tensor tensor(String name) {
    return tensors.get(name);
  }

  boolean has(String name) {
    return tensors.containsKey(name);
  }

  /** The word of a pattern that counts layers; empty if it has none. */
  String counter(String pattern) {
    return NamePattern.words(pattern).stream().filter(counts::containsKey).findFirst().orElse("");
  }

  int layers(String counter) {
    return counts.get(counter);
  }

  /** Every name that the patterns stand for. */
  List<String> all(List<String> patterns) {
    return patterns.stream()
        .map(pattern -> NamePattern.with(pattern, Map.of("prefix", prefix)))
        .flatMap(pattern -> NamePattern.all(pattern, counts).stream())
        .toList();
  }

  /** Every name that the patterns stand for in one layer. */
  List<String> all(List<String> patterns, Map<String, Integer> at) {
    return all(patterns.stream().map(pattern -> NamePattern.with(pattern, at)).toList());
  }

  /** How the names that have a counter begin, up to its number. */
  List<String> beginnings(List<String> patterns, String counter) {
    String word = "{" + counter + "}";
    return patterns.stream()
        .map(pattern -> NamePattern.with(pattern, Map.of("prefix", prefix)))
        .flatMap(pattern -> NamePattern.lists(pattern).stream())
        .filter(name -> name.contains(word))
        .map(name -> name.substring(0, name.indexOf(word)))
        .distinct()
        .toList();
  }

  Projection projection(String name) {
    String last = name.substring(name.lastIndexOf('.') + 1);
    return new Projection(
        name + WEIGHT,
        family.inputsFirst().contains(last),
        has(name + BIAS) ? Optional.of(name + BIAS) : Optional.empty());
  }

  /** Every pattern of a name in the rules. */
  private List<String> patterns() {
    List<String> known = new ArrayList<>(family.embeddings());
    known.add(family.head());
    known.addAll(family.writers());
    known.addAll(family.others());
    for (NormRule rule : family.norms()) {
      known.add(rule.name());
      known.addAll(rule.consumers());
      known.addAll(rule.orConsumers());
    }
    return known;
  }

  /** The tensors that no rule tells of. */
  List<String> unknown() {
    Set<String> exact = new HashSet<>();
    List<String> wild = new ArrayList<>();
    for (String name : all(patterns())) {
      if (name.endsWith("*")) {
        wild.add(name);
      }
      exact.addAll(List.of(name, name + WEIGHT, name + BIAS));
    }
    return tensors.keySet().stream()
        .filter(name -> !exact.contains(name))
        .filter(name -> wild.stream().noneMatch(pattern -> matches(pattern, name)))
        .toList();
  }

  /** Whether a name is that of a pattern that ends in {@code *}. */
  private static boolean matches(String pattern, String name) {
    return name.startsWith(pattern.substring(0, pattern.length() - 1));
  }
}
