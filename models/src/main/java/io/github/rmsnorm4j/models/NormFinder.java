package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.BIAS;
import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import io.github.rmsnorm4j.models.Family.Premise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the norms of a model: the rules of its family, with the names of its own tensors. */
final class NormFinder {
  /** What programs read, where the rules name no setting. */
  private static final String TIED = "tie_word_embeddings";

  private static final List<NamePattern> HEAD = List.of(NamePattern.of("{head}"));

  private final TensorFile file;
  private final ModelSettings settings;
  private final Family family;
  private final FamilyNames names;

  NormFinder(TensorFile file, ModelSettings settings, Family family) throws FormatException {
    this.file = file;
    this.settings = settings;
    this.family = family;
    names = new FamilyNames(file, settings, family);
  }

  ModelNorms find() throws FormatException {
    boolean tied = tied();
    Optional<Projection> head = head(tied);
    Optional<String> premise = brokenPremise();
    List<NormSite> norms = norms(head, premise);
    List<Projection> writers = projections(family.writers());
    List<String> embeddings = names.all(family.embeddings()).map(name -> name + WEIGHT).toList();
    boolean scaled = settings.flag(family.headScaleKeys(), tied);
    double scale = scaled ? Math.pow(settings.width(family.width()), family.tiedHeadPower()) : 1;
    return new ModelNorms(
        family.name(),
        norms,
        embeddings,
        writers,
        head,
        tied,
        names.head() + WEIGHT,
        scale,
        untiedSettings(),
        family.converted(),
        notConverted(premise, embeddings, writers),
        names.unknown());
  }

  private List<String> untiedSettings() {
    List<String> keys = family.tied().keys();
    List<String> untied = new ArrayList<>(settings.places(keys.isEmpty() ? TIED : keys.getFirst()));
    settings.key(family.headScaleKeys()).ifPresent(untied::add);
    return untied;
  }

  private boolean tied() throws FormatException {
    boolean absent = family.tied().absent();
    return family.tied().keys().isEmpty()
        ? absent && !names.has(names.head() + WEIGHT)
        : settings.flag(family.tied().keys(), absent);
  }

  private Optional<Projection> head(boolean tied) throws FormatException {
    if (tied) {
      return Optional.of(new Projection(names.embedding() + WEIGHT, false, Optional.empty()));
    }
    return Optional.of(names.head())
        .filter(head -> names.has(head + WEIGHT))
        .map(names::projection);
  }

  private Optional<String> brokenPremise() throws FormatException {
    for (Premise premise : family.premises()) {
      if (settings.flag(List.of(premise.key()), premise.absent()) != premise.value()) {
        return Optional.of(premise.otherwise());
      }
    }
    return Optional.empty();
  }

  /** Layer by layer; what is not in a layer keeps its place among the rules. */
  private List<NormSite> norms(Optional<Projection> head, Optional<String> premise)
      throws FormatException {
    List<NormSite> norms = new ArrayList<>();
    List<NormRule> rules = family.norms();
    for (int i = 0; i < rules.size(); ) {
      String counter = names.counter(rules.get(i).name());
      int end = i + 1;
      while (end < rules.size()
          && !counter.isEmpty()
          && counter.equals(names.counter(rules.get(end).name()))) {
        end++;
      }
      int layers = counter.isEmpty() ? 1 : names.layers(counter);
      for (int layer = 0; layer < layers; layer++) {
        for (NormRule rule : rules.subList(i, end)) {
          Map<String, Integer> at = counter.isEmpty() ? Map.of() : Map.of(counter, layer);
          addNorms(norms, rule, at, counter.isEmpty() ? -1 : layer, head, premise);
        }
      }
      i = end;
    }
    return norms;
  }

  private void addNorms(
      List<NormSite> norms,
      NormRule rule,
      Map<String, Integer> at,
      int layer,
      Optional<Projection> head,
      Optional<String> premise)
      throws FormatException {
    List<String> beginnings =
        at.keySet().stream().flatMap(word -> names.beginnings(rule, word)).toList();
    for (String name : names.all(List.of(rule.name()), at).toList()) {
      if (rule.gain() && !names.has(name + WEIGHT)) {
        if (rule.optional()) {
          continue;
        }
        throw lacks(name + WEIGHT);
      }
      NormSpec spec =
          settings.withGroups(
              settings.withEpsilon(rule.spec(), rule.epsilonKeys()), rule.groupKeys());
      int width = width(rule, spec, name);
      List<Projection> consumers = new ArrayList<>();
      Optional<String> kept = rule.kept().or(() -> premise);
      Optional<String> problem = addConsumers(rule, at, head, width, consumers);
      norms.add(
          new NormSite(
              name,
              layer,
              spec,
              width,
              rule.heads(),
              !rule.epsilonKeys().isEmpty() && settings.key(rule.epsilonKeys()).isEmpty(),
              rule.gain() ? Optional.of(name + WEIGHT) : Optional.empty(),
              names.has(name + BIAS) ? Optional.of(name + BIAS) : Optional.empty(),
              consumers,
              kept.or(() -> problem),
              rule.note(),
              beginnings));
    }
  }

  private int width(NormRule rule, NormSpec spec, String name) throws FormatException {
    int width = rule.gain() ? gainWidth(name) : settings.width(family.width());
    try {
      spec.part().elements(width);
      spec.groups().count(width);
    } catch (IllegalArgumentException e) {
      throw new FormatException(file.path(), name + ": " + e.getMessage());
    }
    return width;
  }

  private int gainWidth(String name) throws FormatException {
    Tensor gain = names.tensor(name + WEIGHT);
    boolean vector =
        gain.shape().size() == 1
            && gain.elements() >= 1
            && gain.elements() <= ModelSettings.GREATEST_WIDTH;
    if (!vector || gain.dtype().elementType().isEmpty()) {
      throw new FormatException(
          file.path(), gain.name(), "is " + gain + ", a gain has one axis of floating numbers");
    }
    Tensor bias = names.tensor(name + BIAS);
    if (bias != null && !bias.shape().equals(gain.shape())) {
      throw new FormatException(
          file.path(), bias.name(), "is " + bias + ", its gain is " + gain.shape());
    }
    return (int) gain.elements();
  }

  /** Adds the matrices that take a norm's output, and says why they cannot take its gain too. */
  private Optional<String> addConsumers(
      NormRule rule,
      Map<String, Integer> at,
      Optional<Projection> head,
      int width,
      List<Projection> consumers)
      throws FormatException {
    if (rule.consumers().equals(HEAD)) {
      head.ifPresent(consumers::add);
    } else {
      boolean other =
          !rule.orConsumers().isEmpty()
              && names.all(rule.consumers(), at).anyMatch(name -> !names.has(name + WEIGHT));
      List<NamePattern> consuming = other ? rule.orConsumers() : rule.consumers();
      for (String name : names.all(consuming, at).toList()) {
        if (!names.has(name + WEIGHT)) {
          return Optional.of(name + WEIGHT + ", which takes its output, is not in the model");
        }
        consumers.add(names.projection(name));
      }
    }
    if (consumers.isEmpty()) {
      return Optional.of("the model has no matrix that takes its output");
    }
    for (Projection consumer : consumers) {
      Optional<String> problem = problem(consumer, width, rule.heads());
      if (problem.isPresent()) {
        return problem;
      }
    }
    return Optional.empty();
  }

  private Optional<String> problem(Projection consumer, int width, boolean heads)
      throws FormatException {
    Tensor weight = names.tensor(consumer.weight());
    if (weight.dtype().elementType().isEmpty()) {
      return Optional.of(weight + ", which takes its output, is of a type that is not rewritten");
    }
    long inputs =
        weight.shape().size() == 2 ? weight.shape().get(consumer.inputsFirst() ? 0 : 1) : -1;
    if (heads ? inputs < width || inputs % width != 0 : inputs != width) {
      throw new FormatException(
          file.path(), weight.name(), "is %s, its norm has %s elements".formatted(weight, width));
    }
    return Optional.empty();
  }

  /** Those that are in the model. */
  private List<Projection> projections(List<NamePattern> patterns) {
    return names
        .all(patterns)
        .filter(name -> names.has(name + WEIGHT))
        .map(names::projection)
        .toList();
  }

  private Optional<String> notConverted(
      Optional<String> premise, List<String> embeddings, List<Projection> writers) {
    if (family.norms().stream().noneMatch(NormFinder::isLayerNorm)) {
      return Optional.of("it has RMSNorm already");
    }
    if (family.converted().isEmpty()) {
      return Optional.of("no rules are known for a " + family.name() + " with RMSNorm");
    }
    for (NormRule rule : family.norms()) {
      if (isLayerNorm(rule) && isOfPieces(rule)) {
        return Optional.of(
            "of " + rule.name() + ": it has a gate, or a mean for each group or head");
      }
      if (isLayerNorm(rule) && rule.kept().isPresent()) {
        return Optional.of("of " + rule.name() + ": " + rule.kept().get());
      }
    }
    List<String> centred = new ArrayList<>(embeddings);
    names.all(family.writers()).forEach(name -> centred.add(name + WEIGHT));
    for (String name : centred) {
      if (premise.isEmpty() && !names.has(name)) {
        return Optional.of(name + " is not in the model");
      }
    }
    return premise.or(this::lastNormIsMissing).or(() -> notFloating(embeddings, writers));
  }

  private static boolean isLayerNorm(NormRule rule) {
    return rule.spec().kind() == NormSpec.Kind.LAYER_NORM;
  }

  /** Centring takes the mean of whole rows from what such a norm does not read as it is. */
  private static boolean isOfPieces(NormRule rule) {
    NormSpec spec = rule.spec();
    boolean whole = spec.groups().isWhole() && rule.groupKeys().isEmpty() && !rule.heads();
    return !whole || spec.gate() != Gate.NONE;
  }

  /**
   * Centring takes the mean from the stream, and only a norm takes it from what reads the stream.
   */
  private Optional<String> lastNormIsMissing() {
    return family.norms().stream()
        .filter(NormRule::optional)
        .flatMap(rule -> names.all(List.of(rule.name())))
        .filter(name -> !names.has(name + WEIGHT))
        .findFirst()
        .map(name -> "it has no " + name + ", so the head reads the residual stream with its mean");
  }

  private Optional<String> notFloating(List<String> embeddings, List<Projection> writers) {
    List<String> centred = new ArrayList<>(embeddings);
    writers.forEach(writer -> centred.add(writer.weight()));
    return centred.stream()
        .map(names::tensor)
        .filter(tensor -> tensor.dtype().elementType().isEmpty())
        .findFirst()
        .map(tensor -> tensor + " is of a type that is not rewritten");
  }

  private FormatException lacks(String name) {
    return new FormatException(
        file.path(),
        "lacks %s, which the rules of %s name"
            .formatted(Printable.shortened(name), Printable.shortened(family.name())));
  }
}
