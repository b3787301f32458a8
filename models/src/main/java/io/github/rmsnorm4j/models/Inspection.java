package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The norms of a stored model with what their gains are like.
 *
 * @param model the rules of the family with the names of this model's tensors
 * @param norms every norm, in the order of {@link ModelNorms#norms()}
 * @param remarks what a user of the model should know of its files, a sentence each
 */
public record Inspection(ModelNorms model, List<InspectedNorm> norms, List<String> remarks) {
  private static final int PIECE = 1 << 16;

  /** Copies the lists. */
  public Inspection {
    norms = List.copyOf(norms);
    remarks = List.copyOf(remarks);
  }

  /**
   * {@return what is found in a model} Of its tensors the gains are read, and a part of a second
   * head.
   *
   * @param model the model
   * @param map a file of rules to use instead of those of the model's family
   * @throws IOException if the family is not known, or a file cannot be read or is wrong
   */
  public static Inspection of(StoredModel model, Optional<Path> map) throws IOException {
    Inspection found = model.find(map);
    List<InspectedNorm> norms = new ArrayList<>();
    // Rules may name one gain many times; it is read once for each offset.
    Map<List<Object>, GainStatistics> known = new HashMap<>();
    for (InspectedNorm norm : found.norms) {
      InspectedNorm read = norm;
      if (norm.site().gain().isPresent()) {
        Tensor gain = model.tensors().tensor(norm.site().gain().get());
        double offset = norm.site().spec().gainOffset();
        List<Object> key = List.of(gain, offset);
        if (!known.containsKey(key)) {
          known.put(key, statistics(model.tensors(), gain, offset));
        }
        read =
            new InspectedNorm(
                norm.site(),
                norm.epsilonFrom(),
                gain.dtype().elementType().map(ElementType::shortName),
                Optional.of(known.get(key)));
      }
      norms.add(read);
    }
    List<String> remarks = new ArrayList<>(found.remarks);
    remarks.addAll(ModelRemarks.of(model, found.model));
    return new Inspection(found.model, norms, remarks);
  }

  /**
   * {@return the norms that a model of such a {@code config.json} has} N in a name stands for the
   * number of a layer, and a norm that only some layers have is among them. Nothing is known of
   * tensors: widths are 0, and no norm has a bias.
   *
   * @param config the file
   * @param map a file of rules to use instead of those of the model's family
   * @throws IOException if the family is not known, or a file cannot be read or is wrong
   */
  public static Inspection ofConfig(Path config, Optional<Path> map) throws IOException {
    ModelSettings settings = ModelSettings.ofConfig(config);
    Family family = settings.family(Families.read(), map);
    FamilyNames.requireFewNames(
        config,
        family,
        family.norms().stream().mapToDouble(rule -> rule.name().size(Map.of())).sum());
    Map<String, String> prefix = Map.of("prefix", family.prefixes().getFirst());
    List<InspectedNorm> norms = new ArrayList<>();
    for (NormRule rule : family.norms()) {
      if (!rule.onlyIf().isEmpty() && !settings.isOn(rule.onlyIf())) {
        continue;
      }
      NormSpec spec = settings.with(rule.norm(), rule.epsilon(), rule.groups());
      Optional<String> epsilonFrom = settings.key(rule.epsilon());
      rule.name()
          .with(prefix)
          .names(Map.of())
          .map(name -> name.replaceAll("\\{\\w+}", "N"))
          .map(name -> unread(rule, spec, epsilonFrom, name))
          .forEach(norms::add);
    }
    NamePattern head =
        NormFinder.tied(settings, family, true) ? family.embeddings().getFirst() : family.head();
    String matrix = head.with(prefix) + WEIGHT;
    ModelNorms model =
        new ModelNorms(
            family.name(),
            norms.stream().map(InspectedNorm::site).toList(),
            List.of(),
            List.of(),
            Optional.of(new Projection(matrix, false, Optional.empty())),
            NormFinder.tied(settings, family, true),
            family.head().with(prefix) + WEIGHT,
            1,
            List.of(),
            Optional.empty(),
            Optional.of("there are no weights"),
            List.of());
    List<String> remarks = new ArrayList<>();
    remarks.add(
        "read from settings alone: N stands for the number of a layer, a norm may be missing in"
            + " some layers, and a LayerNorm usually has a bias");
    NormFinder.brokenPremise(settings, family)
        .ifPresent(otherwise -> remarks.add("warning: the norms may be others: " + otherwise));
    return new Inspection(model, norms, remarks);
  }

  /** A norm of which the settings are all that is known. */
  private static InspectedNorm unread(
      NormRule rule, NormSpec spec, Optional<String> epsilonFrom, String name) {
    NormSite site =
        new NormSite(
            name,
            -1,
            spec,
            0,
            rule.heads(),
            !rule.epsilon().isEmpty() && epsilonFrom.isEmpty(),
            rule.gain() ? Optional.of(name + WEIGHT) : Optional.empty(),
            Optional.empty(),
            List.of(),
            NormFinder.text(rule.kept()),
            NormFinder.text(rule.note()),
            List.of());
    return new InspectedNorm(site, epsilonFrom, Optional.empty(), Optional.empty());
  }

  /** What a gain is like, which is read in pieces. */
  static GainStatistics statistics(TensorFile file, Tensor gain, double offset) throws IOException {
    GainStatistics.Counter counter = new GainStatistics.Counter(offset);
    double[] numbers = new double[(int) Math.min(PIECE, gain.elements())];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment elements =
          arena.allocate((long) numbers.length * gain.dtype().bits() / Byte.SIZE, Double.BYTES);
      for (long at = 0; at < gain.elements(); at += PIECE) {
        int count = (int) Math.min(PIECE, gain.elements() - at);
        file.read(gain, at, count, elements);
        gain.dtype().decode(elements, numbers, count);
        Arrays.stream(numbers, 0, count).forEach(counter);
      }
    }
    return counter.statistics();
  }
}
