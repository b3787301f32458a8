package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
      NormSite site = norm.site();
      Optional<String> type = Optional.empty();
      GainStatistics statistics = null;
      if (site.gain().isPresent()) {
        Tensor gain = model.tensors().tensor(site.gain().get());
        List<Object> key = List.of(gain, site.spec().gainOffset());
        statistics = known.get(key);
        if (statistics == null) {
          statistics = GainStatistics.of(model.tensors(), gain, site.spec().gainOffset());
          known.put(key, statistics);
        }
        type = gain.dtype().elementType().map(ElementType::shortName);
      }
      norms.add(new InspectedNorm(site, norm.epsilonFrom(), type, Optional.ofNullable(statistics)));
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
    FamilyNames.requireFewNames(config, family, Map.of());
    // The names of a model without its head begin with nothing.
    boolean headless = settings.isHeadless() && family.prefixes().indexOf("") > 0;
    Map<String, String> prefix =
        Map.of("prefix", headless ? "" : settings.prefix(family.prefixes()));
    List<InspectedNorm> norms = new ArrayList<>();
    for (NormRule rule : family.norms()) {
      boolean ofHead = rule.optional() && rule.name().words().isEmpty();
      if ((rule.onlyIf().isEmpty() || settings.isOn(rule.onlyIf())) && !(headless && ofHead)) {
        NormSpec spec = settings.with(rule.norm(), rule.epsilon(), rule.groups());
        Optional<String> epsilonFrom = settings.key(rule.epsilon());
        rule.name()
            .with(prefix)
            .names(Map.of())
            .map(name -> unread(rule, spec, epsilonFrom, name.replaceAll("\\{\\w+}", "N")))
            .forEach(norms::add);
      }
    }
    boolean tied = settings.isTied(family, true);
    String ownHead = family.head().with(prefix) + WEIGHT;
    String head = tied ? family.embeddings().getFirst().with(prefix) + WEIGHT : ownHead;
    ModelNorms model =
        new ModelNorms(
            family.name(),
            norms.stream().map(InspectedNorm::site).toList(),
            List.of(),
            List.of(),
            Optional.of(new Projection(head, false, Optional.empty())),
            tied,
            ownHead,
            1,
            List.of(),
            Optional.empty(),
            Optional.of("there are no weights"),
            List.of());
    String alone =
        "read from settings alone: N stands for a layer number, a norm may be missing in some"
            + " layers, and a LayerNorm usually has a bias";
    List<String> remarks = new ArrayList<>(List.of(alone));
    Optional<String> others = settings.otherParts().filter(_ -> map.isEmpty());
    others.ifPresent(
        parts -> remarks.add("this lists the norms of the text part; " + parts + " has others"));
    settings
        .brokenPremise(family)
        .ifPresent(other -> remarks.add("warning: the norms may be others: " + other));
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
            Optional.of(name + WEIGHT).filter(_ -> rule.gain()),
            Optional.empty(),
            List.of(),
            NormFinder.text(rule.kept()),
            NormFinder.text(rule.note()),
            List.of());
    return new InspectedNorm(site, epsilonFrom, Optional.empty(), Optional.empty());
  }
}
