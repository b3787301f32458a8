package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What the names in a family's rules stand for in one model. */
final class FamilyNames {
  static final String WEIGHT = ".weight";
  static final String BIAS = ".bias";

  /** Several times more names than the rules of any model stand for. */
  private static final int MOST_NAMES = 1 << 18;

  private final TensorFile file;
  private final Family family;
  private final NavigableMap<String, Tensor> tensors = new TreeMap<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private final String prefix;

  FamilyNames(TensorFile file, ModelSettings settings, Family family) throws FormatException {
    this.file = file;
    this.family = family;
    file.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    for (String counter : family.counts().keySet()) {
      String sign = family.mayLack().get(counter);
      boolean lacks = sign != null && matching(tensors.navigableKeySet(), sign).findAny().isEmpty();
      counts.put(counter, lacks ? 0 : settings.layers(family.counts().get(counter)));
    }
    requireFewNames();
    prefix = prefix();
  }

  /** A few braces too many would take hours, or fill the memory. */
  private void requireFewNames() throws FormatException {
    // Also where a counter is 0, the lists around it are expanded: names begin with them.
    Map<String, Integer> atLeastOne = new HashMap<>(counts);
    atLeastOne.replaceAll((_, count) -> Math.max(1, count));
    double size = patterns().mapToDouble(pattern -> pattern.size(atLeastOne)).sum();
    for (NormRule rule : family.norms()) {
      // What takes its output is looked up for each of the norms, and so are settings.
      String counter = counter(rule.name());
      double norms = rule.name().size(atLeastOne);
      Map<String, Integer> at = Map.of(counter, 0);
      double each = consumers(rule).mapToDouble(names -> names.with(at).size(atLeastOne)).sum();
      size +=
          norms
              * (each
                  + rule.epsilonKeys().size()
                  + rule.groupKeys().size()
                  + family.width().size());
    }
    if (size > MOST_NAMES) {
      throw new FormatException(
          file.path(),
          String.format(
              Locale.ROOT,
              "cannot be read by the rules of %s: they stand for %.3g names, at most %s are tried",
              Printable.shortened(family.name()),
              size,
              MOST_NAMES));
    }
  }

  private String prefix() throws FormatException {
    List<String> tried = new ArrayList<>();
    for (String prefix : family.prefixes()) {
      NamePattern embedding = family.embeddings().getFirst().with(Map.of("prefix", prefix));
      String name = one("embedding", embedding) + WEIGHT;
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

  /** The name of a tensor of which a model has one. */
  private String one(String what, NamePattern pattern) throws FormatException {
    if (pattern.size(counts) != 1) {
      throw new FormatException(
          file.path(),
          "cannot be read by the rules of %s: the %s '%s' stands for %s names, it must stand for one"
              .formatted(
                  Printable.shortened(family.name()),
                  what,
                  Printable.shortened(pattern.toString()),
                  (long) pattern.size(counts)));
    }
    return pattern.names(counts).findFirst().orElseThrow();
  }

  String embedding() throws FormatException {
    return one("embedding", here(family.embeddings().getFirst()));
  }

  String head() throws FormatException {
    return one("head", here(family.head()));
  }

  /** The tensor of that name, null if there is none. */
  Tensor tensor(String name) {
    return tensors.get(name);
  }

  boolean has(String name) {
    return tensors.containsKey(name);
  }

  /** The word of a pattern that counts layers; empty if it has none. */
  String counter(NamePattern pattern) {
    return pattern.words().stream().filter(counts::containsKey).findFirst().orElse("");
  }

  int layers(String counter) {
    return counts.get(counter);
  }

  private NamePattern here(NamePattern pattern) {
    return pattern.with(Map.of("prefix", prefix));
  }

  /** Every name that the patterns stand for. */
  Stream<String> all(List<NamePattern> patterns) {
    return all(patterns, Map.of());
  }

  /** Every name that the patterns stand for in one layer. */
  Stream<String> all(List<NamePattern> patterns, Map<String, Integer> at) {
    return patterns.stream().flatMap(pattern -> here(pattern).with(at).names(counts));
  }

  /** How the names that have a counter begin, up to its number. */
  Stream<String> beginnings(NormRule rule, String counter) {
    return Stream.concat(Stream.of(rule.name()), consumers(rule))
        .flatMap(pattern -> here(pattern).before(counter))
        .distinct();
  }

  Projection projection(String name) {
    String last = name.substring(name.lastIndexOf('.') + 1);
    return new Projection(
        name + WEIGHT,
        family.inputsFirst().contains(last),
        has(name + BIAS) ? Optional.of(name + BIAS) : Optional.empty());
  }

  private static Stream<NamePattern> consumers(NormRule rule) {
    return Stream.concat(rule.consumers().stream(), rule.orConsumers().stream());
  }

  /** Every pattern of a name in the rules. */
  private Stream<NamePattern> patterns() {
    return Stream.of(
            family.embeddings().stream(),
            Stream.of(family.head()),
            family.writers().stream(),
            family.others().stream(),
            family.norms().stream()
                .flatMap(rule -> Stream.concat(Stream.of(rule.name()), consumers(rule))))
        .flatMap(patterns -> patterns);
  }

  /** The tensors that no rule covers. */
  List<String> unknown() {
    NavigableSet<String> unknown = new TreeSet<>(tensors.navigableKeySet());
    all(patterns().toList())
        .forEach(
            name -> {
              matching(unknown, name).toList().forEach(unknown::remove);
              unknown.remove(name + WEIGHT);
              unknown.remove(name + BIAS);
            });
    return file.tensors().stream().map(Tensor::name).filter(unknown::contains).toList();
  }

  /** The names that are one; or that begin like one which ends in {@code *}. */
  private static Stream<String> matching(NavigableSet<String> names, String name) {
    if (!name.endsWith("*")) {
      return Stream.of(name).filter(names::contains);
    }
    String beginning = name.substring(0, name.length() - 1);
    return names.tailSet(beginning).stream().takeWhile(known -> known.startsWith(beginning));
  }
}
