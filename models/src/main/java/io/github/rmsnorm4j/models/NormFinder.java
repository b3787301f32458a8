package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.BIAS;
import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.NormSpec.Kind;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the norms of a model: the rules of its family, with the names of its own tensors. */
final class NormFinder {
  /** What programs read, where the rules name no setting. */
  private static final String TIED = "tie_word_embeddings";

  private static final List<NamePattern> HEAD = List.of(new NamePattern("{head}"));

  /** Settings that say how many heads there are; of these one or both. */
  private static final List<String> HEADS = List.of("num_attention_heads", "num_key_value_heads");

  private final TensorFile file;
  private final ModelSettings settings;
  private final Family family;
  private final FamilyNames names;
  private final Optional<String> premise;
  private final boolean tied;
  private final Optional<Projection> head;
  private final List<InspectedNorm> norms = new ArrayList<>();

  NormFinder(TensorFile file, ModelSettings settings, Family family) throws FormatException {
    this.file = file;
    this.settings = settings;
    this.family = family;
    names = new FamilyNames(file, settings, family);
    premise = settings.brokenPremise(family);
    tied = settings.isTied(family, !names.has(names.head() + WEIGHT));
    head =
        tied
            ? Optional.of(new Projection(names.embedding() + WEIGHT, false, Optional.empty()))
            : Optional.of(names.head()).filter(h -> names.has(h + WEIGHT)).map(names::projection);
  }

  /** The norms, of which no gain was read. */
  Inspection find() throws FormatException {
    addNorms();
    List<Projection> writers =
        names
            .all(family.writers())
            .filter(name -> names.has(name + WEIGHT))
            .map(names::projection)
            .toList();
    List<String> embeddings = names.all(family.embeddings()).map(name -> name + WEIGHT).toList();
    ModelNorms model =
        new ModelNorms(
            family.name(),
            norms.stream().map(InspectedNorm::site).toList(),
            embeddings,
            writers,
            head,
            tied,
            names.head() + WEIGHT,
            headScale(),
            untiedSettings(),
            Optional.of(family.converted()).filter(type -> !type.isEmpty()),
            notConverted(embeddings, writers),
            names.unknown());
    return new Inspection(model, norms, ModelRemarks.ofNames(names.added(), settings, family));
  }

  private double headScale() throws FormatException {
    double power = family.tiedHeadPowerOfWidth();
    return settings.flag(family.headScaled(), tied) && power != 0
        ? Math.pow(settings.width(family.width()), power)
        : 1;
  }

  private List<String> untiedSettings() {
    List<String> keys = family.tied().keys();
    List<String> untied = new ArrayList<>(settings.places(keys.isEmpty() ? TIED : keys.getFirst()));
    settings.key(family.headScaled()).ifPresent(untied::add);
    return untied;
  }

  /** Layer by layer; what is not in a layer keeps its place among the rules. */
  private void addNorms() throws FormatException {
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
          addNorms(rule, counter, counter.isEmpty() ? -1 : layer);
        }
      }
      i = end;
    }
  }

  private void addNorms(NormRule rule, String counter, int layer) throws FormatException {
    Map<String, Integer> at = layer < 0 ? Map.of() : Map.of(counter, layer);
    NormSpec set = settings.with(rule.norm(), rule.epsilon(), rule.groups());
    Optional<String> epsilonFrom = settings.key(rule.epsilon());
    List<String> beginnings = layer < 0 ? List.of() : names.beginnings(rule, counter);
    for (String name : names.all(List.of(rule.name()), at).toList()) {
      Optional<Tensor> gain = rule.gain() ? gain(name, rule) : Optional.empty();
      if (rule.gain() && gain.isEmpty()) {
        continue;
      }
      int width = gain.isPresent() ? (int) gain.get().elements() : settings.width(family.width());
      NormSpec spec = ofShape(name, set, width, gain);
      boolean heads = rule.heads() && spec.groups().equals(set.groups());
      List<Projection> consumers = new ArrayList<>();
      Optional<String> problem = addConsumers(rule, at, heads, width, consumers);
      NormSite site =
          new NormSite(
              name,
              layer,
              spec,
              width,
              heads,
              !rule.epsilon().isEmpty() && epsilonFrom.isEmpty(),
              gain.map(Tensor::name),
              Optional.of(name + BIAS).filter(names::has),
              consumers,
              text(rule.kept()).or(() -> premise).or(() -> problem),
              text(rule.note()),
              beginnings);
      norms.add(new InspectedNorm(site, epsilonFrom, Optional.empty(), Optional.empty()));
    }
  }

  static Optional<String> text(String text) {
    return Optional.of(text).filter(value -> !value.isEmpty());
  }

  /** The gain of a norm; empty if the model lacks the norm. */
  private Optional<Tensor> gain(String name, NormRule rule) throws FormatException {
    Tensor gain = names.tensor(name + WEIGHT);
    if (gain == null) {
      if (rule.optional()) {
        return Optional.empty();
      }
      String lacking = Printable.shortened(name + WEIGHT);
      String rules = Printable.shortened(family.name());
      throw new FormatException(
          file.path(), "lacks %s, which the rules of %s name".formatted(lacking, rules));
    }
    int most = rule.heads() || rule.consumers().isEmpty() ? gain.shape().size() : 1;
    if (gain.elements() < 1
        || gain.elements() > ModelSettings.GREATEST_WIDTH
        || gain.shape().isEmpty()
        || axes(gain).size() > most
        || gain.dtype().elementType().isEmpty()) {
      throw wrong(gain, "a gain has one axis of floating numbers");
    }
    Tensor bias = names.tensor(name + BIAS);
    if (bias != null && !bias.shape().equals(gain.shape())) {
      throw wrong(bias, "its gain is " + gain.shape());
    }
    if (rule.heads() && axes(gain).size() == 2) {
      requireRowPerHead(gain);
    }
    return Optional.of(gain);
  }

  private FormatException wrong(Tensor tensor, String problem) {
    Tensor unnamed = new Tensor("", tensor.dtype(), tensor.shape());
    return new FormatException(file.path(), tensor.name(), "is " + unnamed + ", " + problem);
  }

  private static List<Long> axes(Tensor gain) {
    return gain.shape().stream().filter(length -> length > 1).toList();
  }

  private void requireRowPerHead(Tensor gain) throws FormatException {
    Set<Integer> heads = new LinkedHashSet<>();
    for (String key : HEADS) {
      if (settings.key(List.of(key)).isPresent()) {
        heads.add(settings.width(List.of(key)));
      }
    }
    int rows = axes(gain).getFirst().intValue();
    if (!heads.isEmpty() && !heads.contains(rows)) {
      String has = heads.stream().map(String::valueOf).collect(Collectors.joining(" or "));
      throw wrong(gain, "rows for %s heads, the model has %s".formatted(rows, has));
    }
  }

  /** A gain of several heads has one row for each, and so has a row's groups. */
  private NormSpec ofShape(String name, NormSpec spec, int width, Optional<Tensor> gain)
      throws FormatException {
    List<Long> axes = gain.map(NormFinder::axes).orElse(List.of());
    try {
      NormSpec grouped =
          axes.size() > 1 && spec.groups().isWhole()
              ? spec.withGroups(RowGroups.ofSize(axes.getLast().intValue()))
              : spec;
      grouped.part().elements(width);
      grouped.groups().count(width);
      return grouped;
    } catch (IllegalArgumentException e) {
      throw new FormatException(file.path(), name + ": " + e.getMessage());
    }
  }

  /** Adds the matrices that take a norm's output, and says why they cannot take its gain too. */
  private Optional<String> addConsumers(
      NormRule rule, Map<String, Integer> at, boolean heads, int width, List<Projection> consumers)
      throws FormatException {
    if (rule.consumers().equals(HEAD)) {
      head.ifPresent(consumers::add);
    } else {
      boolean other =
          !rule.orConsumers().isEmpty()
              && names.all(rule.consumers(), at).anyMatch(name -> !names.has(name + WEIGHT));
      for (String name : names.all(other ? rule.orConsumers() : rule.consumers(), at).toList()) {
        if (!names.has(name + WEIGHT)) {
          return Optional.of(name + WEIGHT + ", which takes its output, is not in the model");
        }
        consumers.add(names.projection(name));
      }
    }
    Optional<String> problem =
        consumers.isEmpty()
            ? Optional.of("the model has no matrix that takes its output")
            : Optional.empty();
    for (int i = 0; i < consumers.size() && problem.isEmpty(); i++) {
      problem = problem(consumers.get(i), width, heads);
    }
    return problem;
  }

  private Optional<String> problem(Projection consumer, int width, boolean heads)
      throws FormatException {
    Tensor weight = names.tensor(consumer.weight());
    if (weight.dtype().elementType().isEmpty()) {
      return Optional.of(weight + ", which takes its output, is of a type that is not rewritten");
    }
    List<Long> shape = weight.shape();
    if (shape.size() > 2) {
      return Optional.of(weight + ", which takes its output, holds several matrices");
    }
    long inputs = shape.size() == 2 ? shape.get(consumer.inputsFirst() ? 0 : 1) : -1;
    if (heads ? inputs < width || inputs % width != 0 : inputs != width) {
      throw wrong(weight, "its norm has %s elements".formatted(width));
    }
    return Optional.empty();
  }

  private Optional<String> notConverted(List<String> embeddings, List<Projection> writers) {
    List<NormRule> layerNorms =
        family.norms().stream().filter(rule -> rule.norm().kind() == Kind.LAYER_NORM).toList();
    if (layerNorms.isEmpty()) {
      return Optional.of("it has RMSNorm already");
    }
    if (family.converted().isEmpty()) {
      return Optional.of("no rules are known for a " + family.name() + " with RMSNorm");
    }
    // Centring takes the mean of whole rows from the stream, and only a norm takes it from what
    // reads the stream.
    Stream<String> ofPieces =
        norms.stream()
            .map(InspectedNorm::site)
            .filter(site -> site.spec().kind() == Kind.LAYER_NORM && isOfPieces(site))
            .map(norm -> "of " + norm.name() + ": it has a gate, or a mean for each group or head");
    Stream<String> kept =
        layerNorms.stream()
            .filter(rule -> !rule.kept().isEmpty())
            .map(rule -> "of " + rule.name() + ": " + rule.kept());
    Stream<String> missing =
        Stream.concat(
                embeddings.stream(), names.all(family.writers()).map(writer -> writer + WEIGHT))
            .filter(name -> premise.isEmpty() && !names.has(name))
            .map(name -> name + " is not in the model");
    Stream<String> withoutNorm =
        family.norms().stream()
            .filter(NormRule::optional)
            .flatMap(rule -> names.all(List.of(rule.name())))
            .filter(name -> !names.has(name + WEIGHT))
            .map(
                name ->
                    "it has no " + name + ", so the head reads the residual stream with its mean");
    Stream<String> notFloating =
        Stream.concat(embeddings.stream(), writers.stream().map(Projection::weight))
            .filter(names::has)
            .map(names::tensor)
            .filter(tensor -> tensor.dtype().elementType().isEmpty())
            .map(tensor -> tensor + " is of a type that is not rewritten");
    return Stream.of(ofPieces, kept, missing, premise.stream(), withoutNorm, notFloating)
        .flatMap(problems -> problems)
        .findFirst();
  }

  private static boolean isOfPieces(NormSite site) {
    return site.heads() || !site.spec().groups().isWhole() || site.spec().gate() != Gate.NONE;
  }
}
