package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What the names in a family's rules stand for in one model. */
final class FamilyNames {
  static final String WEIGHT = ".weight";
  static final String BIAS = ".bias";

  /** What tensors of a name end in; a quantized matrix has some instead of its weight. */
  private static final List<String> ENDINGS =
      List.of(
          WEIGHT,
          BIAS,
          ".weight_packed",
          ".weight_scale",
          ".weight_scale_inv",
          ".weight_shape",
          ".scale");

  /** Several times more names than the rules of any model stand for. */
  private static final int MOST_NAMES = 1 << 18;

  /** Several times more prefixes than the rules of any family have. */
  private static final int MOST_PREFIXES = 16;

  private final TensorFile file;
  private final Family family;
  private final NavigableMap<String, Tensor> tensors = new TreeMap<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private String prefix = "";
  private String added = "";

  /** What was added to all names. */
  private String outer = "";

  FamilyNames(TensorFile file, ModelSettings settings, Family family) throws FormatException {
    this.file = file;
    this.family = family;
    file.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    for (String counter : family.counts().keySet()) {
      counts.put(counter, settings.layers(family.counts().get(counter)));
    }
    Map<String, Integer> least = Map.copyOf(counts);
    for (Map.Entry<String, List<String>> keys : family.further().entrySet()) {
      int layers = settings.key(keys.getValue()).isPresent() ? settings.layers(keys.getValue()) : 0;
      counts.computeIfPresent(keys.getKey(), (_, count) -> count + layers);
    }
    requireFewNames(file.path(), family, counts);
    findPrefix();
    // Those for further tokens are often left out.
    for (String counter : least.keySet()) {
      while (layers(counter) > least.get(counter) && !hasLayer(counter, layers(counter) - 1)) {
        counts.merge(counter, -1, Integer::sum);
      }
    }
    family.mayLack().keySet().stream()
        .filter(counter -> isMissing(family.mayLack().get(counter)))
        .forEach(counter -> counts.computeIfPresent(counter, (_, _) -> 0));
  }

  private boolean hasLayer(String counter, int layer) {
    return family.norms().stream()
        .flatMap(rule -> here(rule.name()).before(counter))
        .anyMatch(name -> !isMissing(name + layer + ".*"));
  }

  private boolean isMissing(String name) {
    return matching(tensors.navigableKeySet(), outer + name).isEmpty();
  }

  /** A few braces too many would take hours, or fill the memory. */
  static void requireFewNames(Path file, Family family, Map<String, Integer> counts)
      throws FormatException {
    // Also where a counter is 0, the lists around it are expanded: names begin with them.
    Map<String, Integer> atLeastOne = new HashMap<>(counts);
    atLeastOne.replaceAll((_, count) -> Math.max(1, count));
    double size = patterns(family).mapToDouble(pattern -> pattern.size(atLeastOne)).sum();
    for (NormRule rule : family.norms()) {
      // What takes its output is looked up for each of the norms, and so are settings.
      Map<String, Integer> at = new HashMap<>(atLeastOne);
      rule.name().words().stream().filter(counts::containsKey).findFirst().ifPresent(at::remove);
      double each = consumers(rule).mapToDouble(names -> names.size(at)).sum();
      int keys = rule.epsilon().size() + rule.groups().size() + family.width().size();
      size += rule.name().size(atLeastOne) * (each + keys);
    }
    if (size > MOST_NAMES) {
      String problem = "they stand for %.3g names, at most %s are tried";
      throw wrong(file, family, String.format(Locale.ROOT, problem, size, MOST_NAMES));
    }
  }

  /**
   * Finds the embedding. A program that trained the model may have put a prefix of its own before
   * all names; it is recognized where the name of one tensor alone ends like the embedding's.
   */
  private void findPrefix() throws FormatException {
    List<String> tried = new ArrayList<>();
    for (String known : family.prefixes()) {
      prefix = known;
      tried.add(embedding() + WEIGHT);
      if (has(tried.getLast())) {
        return;
      }
    }
    List<String> longestFirst =
        family.prefixes().stream().sorted(Comparator.comparing(p -> -p.length())).toList();
    for (String known : longestFirst.subList(0, Math.min(MOST_PREFIXES, longestFirst.size()))) {
      prefix = known;
      String name = "." + embedding() + WEIGHT;
      List<String> longer =
          tensors.keySet().stream()
              .filter(tensor -> tensor.endsWith(name) && !tensor.contains("{"))
              .toList();
      if (longer.size() == 1) {
        added = longer.getFirst().substring(0, longer.getFirst().length() - name.length() + 1);
        // The head tells whether all names have what was added, or those of the prefix alone.
        boolean apart = has(head() + WEIGHT) && !has(added + head() + WEIGHT);
        outer = apart ? "" : added;
        prefix = apart ? added + prefix : prefix;
        return;
      }
    }
    String problem = "lacks %s, which a model of the family %s has";
    throw new FormatException(
        file.path(), problem.formatted(String.join(" or ", tried), family.name()));
  }

  /** What the names begin with that those of the family do not; empty if there is nothing. */
  String added() {
    return added;
  }

  /** The name of a tensor of which a model has one. */
  private String one(String what, NamePattern pattern) throws FormatException {
    long names = (long) pattern.size(counts);
    if (names != 1) {
      String problem = "the %s '%s' stands for %s names, it must stand for one";
      String shown = Printable.shortened(pattern.text());
      throw wrong(file.path(), family, problem.formatted(what, shown, names));
    }
    return all(List.of(pattern)).findFirst().orElseThrow();
  }

  private static FormatException wrong(Path file, Family family, String problem) {
    String rules = Printable.shortened(family.name());
    return new FormatException(file, "cannot be read by the rules of " + rules + ": " + problem);
  }

  String embedding() throws FormatException {
    return one("embedding", family.embeddings().getFirst());
  }

  /** The head, which may be within the same model as the prefix. */
  String head() throws FormatException {
    String head = one("head", family.head());
    return IntStream.rangeClosed(0, prefix.length())
        .filter(end -> end == 0 || prefix.charAt(end - 1) == '.')
        .mapToObj(end -> outer + prefix.substring(0, end) + head.substring(outer.length()))
        .filter(name -> has(name + WEIGHT))
        .findFirst()
        .orElse(head);
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

  /** Every name that the patterns stand for. */
  Stream<String> all(List<NamePattern> patterns) {
    return all(patterns, Map.of());
  }

  /** Every name that the patterns stand for in one layer. */
  Stream<String> all(List<NamePattern> patterns, Map<String, Integer> at) {
    return patterns.stream()
        .flatMap(pattern -> here(pattern).with(at).names(counts))
        .map(name -> outer + name);
  }

  private NamePattern here(NamePattern pattern) {
    return pattern.with(Map.of("prefix", prefix));
  }

  /** How the names that have a counter begin, up to its number. */
  List<String> beginnings(NormRule rule, String counter) {
    return Stream.concat(Stream.of(rule.name()), consumers(rule))
        .flatMap(pattern -> here(pattern).before(counter))
        .map(beginning -> outer + beginning)
        .distinct()
        .toList();
  }

  Projection projection(String name) {
    String last = name.substring(name.lastIndexOf('.') + 1);
    return new Projection(
        name + WEIGHT,
        family.inputsFirst().contains(last),
        Optional.of(name + BIAS).filter(this::has));
  }

  private static Stream<NamePattern> consumers(NormRule rule) {
    return Stream.concat(rule.consumers().stream(), rule.orConsumers().stream());
  }

  /** Every pattern of a name in the rules. */
  private static Stream<NamePattern> patterns(Family family) {
    return Stream.of(
            family.embeddings().stream(),
            Stream.of(family.head()),
            family.writers().stream(),
            family.others().stream(),
            family.norms().stream().map(NormRule::name),
            family.norms().stream().flatMap(FamilyNames::consumers))
        .flatMap(patterns -> patterns);
  }

  /**
   * The tensors that no rule covers. One without elements is a mark that some programs set: nothing
   * can go into it.
   */
  List<String> unknown() throws FormatException {
    NavigableSet<String> unknown = new TreeSet<>(tensors.keySet());
    Stream.concat(all(patterns(family).toList()), Stream.of(head()))
        .forEach(
            name -> {
              matching(unknown, name).clear();
              ENDINGS.forEach(ending -> unknown.remove(name + ending));
            });
    return file.tensors().stream()
        .filter(tensor -> tensor.elements() > 0 && unknown.contains(tensor.name()))
        .map(Tensor::name)
        .toList();
  }

  /** Those of the names that are one; or that begin like one which ends in {@code *}. */
  private static Set<String> matching(NavigableSet<String> names, String name) {
    boolean all = name.endsWith("*");
    String beginning = all ? name.substring(0, name.length() - 1) : name;
    return names.subSet(beginning, beginning + (all ? Character.MAX_VALUE : Character.MIN_VALUE));
  }
}
