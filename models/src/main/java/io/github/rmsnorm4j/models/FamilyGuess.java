package io.github.rmsnorm4j.models;

import static io.github.rmsnorm4j.models.FamilyNames.BIAS;
import static io.github.rmsnorm4j.models.FamilyNames.WEIGHT;

import io.github.rmsnorm4j.NormSpec.Kind;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a model looks like for whose family there are no rules. */
public final class FamilyGuess {
  private static final Pattern LAYER = Pattern.compile("(?<=\\.)\\d{1,4}(?=\\.)");
  private static final Pattern EPSILON = Pattern.compile(".*(eps|epsilon)");
  private static final Pattern EMBEDDING = Pattern.compile(".*(emb|wte).*");
  private static final String KEPT = "what takes its output is not known";

  /** What each gain that is not found counts in a misfit, and each that looks otherwise. */
  private static final long MISSING = 1L << 40;

  private static final long OTHERWISE = 1L << 20;

  /** Norms that a family's own may be instead: as most of them look. */
  private static final List<String> OTHERS = List.of("", "gemma", "layernorm");

  private final StoredModel model;
  private final ModelSettings settings;
  private final Families families;
  private final Set<String> names = new HashSet<>();
  private final Map<String, GainStatistics> gains = new LinkedHashMap<>();

  /**
   * Looks at a model.
   *
   * @param model the model, whose vectors are read
   * @throws IOException if it cannot be read
   */
  public FamilyGuess(StoredModel model) throws IOException {
    this.model = model;
    settings = model.settings();
    families = Families.read();
    for (Tensor tensor : model.tensors().tensors()) {
      names.add(tensor.name());
      if (looksLikeGain(tensor)) {
        gains.put(tensor.name(), GainStatistics.of(model.tensors(), tensor, 0));
      }
    }
  }

  static boolean looksLikeGain(Tensor tensor) {
    // Heads may have a gain each.
    int axes = tensor.name().endsWith("norm" + WEIGHT) ? 2 : 1;
    return tensor.name().endsWith(WEIGHT)
        && !tensor.shape().isEmpty()
        && tensor.shape().size() <= axes
        && tensor.elements() > 1
        && tensor.dtype().elementType().isPresent()
        && tensor.elements() <= ModelSettings.GREATEST_WIDTH;
  }

  /**
   * {@return whether the model's family has rules, so that there is nothing to guess}
   *
   * @throws IOException if they are wrong
   */
  public boolean isKnown() throws IOException {
    return settings.known(families).isPresent();
  }

  /**
   * {@return the tensors that look like gains of norms, by their name with <code>{layer}</code> for
   * the number of the layer}
   */
  public Map<String, List<GainStatistics>> gains() {
    Map<String, List<GainStatistics>> groups = new LinkedHashMap<>();
    gains.forEach(
        (tensor, gain) -> {
          String name = LAYER.matcher(tensor).replaceFirst("{layer}");
          groups.computeIfAbsent(name, _ -> new ArrayList<>()).add(gain);
        });
    return groups;
  }

  /**
   * {@return rules by which the norms are found, as a file of rules has them; empty if none were
   * found} They are those of the family whose names and numbers fit best, with what is different.
   *
   * @throws IOException if the model cannot be read
   */
  public Optional<Map<String, Object>> map() throws IOException {
    Map<String, Object> best = null;
    long least = Long.MAX_VALUE;
    for (String family : families.with(settings.typesField())) {
      for (String norm : found(rules(family, "")).isPresent() ? OTHERS : List.<String>of()) {
        Map<String, Object> rules = rules(family, norm);
        long misfit = found(rules).map(this::misfit).orElse(Long.MAX_VALUE);
        if (misfit < least) {
          least = misfit;
          best = rules;
        }
      }
    }
    if (least >= MISSING) {
      Map<String, Object> listed = listed(best);
      best = found(listed).isPresent() ? listed : best;
    }
    return Optional.ofNullable(best);
  }

  /**
   * {@return rules as a line of JSON}
   *
   * @param rules those of {@link #map}
   */
  public static String line(Map<String, Object> rules) {
    return RuleRecords.JSON.valueToTree(rules).toString();
  }

  private Map<String, Object> rules(String family, String norm) throws FormatException {
    Map<String, Object> rules = new LinkedHashMap<>();
    rules.put("family", settings.type().isEmpty() ? "unknown" : settings.type());
    rules.put("like", family);
    if (!norm.isEmpty()) {
      rules.put("norm", norm);
    }
    List<String> keys = families.of(model.path(), rules).norms().getFirst().epsilon();
    List<String> others =
        settings.numbers().keySet().stream().filter(key -> EPSILON.matcher(key).matches()).toList();
    if (settings.key(keys).isEmpty() && !others.isEmpty()) {
      rules.put("epsilon", others);
    }
    return rules;
  }

  private Optional<Inspection> found(Map<String, Object> rules) {
    try {
      return Optional.of(
          new NormFinder(model.tensors(), settings, families.of(model.path(), rules)).find());
    } catch (FormatException _) {
      return Optional.empty();
    }
  }

  /** Of rules that find as many of the gains, those fit whose norms look like the gains. */
  private long misfit(Inspection found) {
    Set<String> missing = new HashSet<>(gains.keySet());
    found.norms().forEach(norm -> norm.site().gain().ifPresent(missing::remove));
    long other = found.norms().stream().filter(norm -> looksOtherwise(norm.site())).count();
    return missing.size() * MISSING + other * OTHERWISE + found.model().unknown().size();
  }

  private boolean looksOtherwise(NormSite site) {
    boolean layerNorm = site.spec().kind() == Kind.LAYER_NORM;
    return layerNorm != site.bias().isPresent()
        || site.gain()
            .map(gains::get)
            .flatMap(GainStatistics::looksLike)
            .filter(looks -> looks != site.spec().gainOffset())
            .isPresent();
  }

  /** Rules that name each norm, because no family has them all. */
  private Map<String, Object> listed(Map<String, Object> best) throws FormatException {
    int layers =
        gains.keySet().stream()
            .map(LAYER::matcher)
            .filter(Matcher::find)
            .mapToInt(layer -> 1 + Integer.parseInt(layer.group()))
            .max()
            .orElse(0);
    Map<String, Object> rules = new LinkedHashMap<>();
    rules.putAll(best == null ? rules(families.with(settings.typesField()).getFirst(), "") : best);
    if (best == null) {
      model.tensors().tensors().stream()
          .filter(tensor -> tensor.shape().size() == 2 && tensor.name().endsWith(WEIGHT))
          .map(tensor -> withoutWeight(tensor.name()))
          .filter(name -> EMBEDDING.matcher(name).matches())
          .findFirst()
          .ifPresent(name -> rules.put("embeddings", List.of(name)));
      settings.numbers().entrySet().stream()
          .filter(number -> number.getValue().doubleValue() == layers)
          .map(Map.Entry::getKey)
          .min(Comparator.comparing(key -> !key.contains("layer")))
          .ifPresent(key -> rules.put("counts", Map.of("layer", List.of(key))));
    }
    List<Map<String, Object>> norms = new ArrayList<>();
    gains().forEach((name, of) -> norms.add(norm(withoutWeight(name), of, layers)));
    rules.put("norms", norms);
    return rules;
  }

  private Map<String, Object> norm(String name, List<GainStatistics> of, int layers) {
    long shifted = of.stream().filter(gain -> gain.looksLike().equals(Optional.of(1.0))).count();
    String kind = 2 * shifted > of.size() ? "gemma" : "rmsnorm";
    boolean bias = names.contains(name.replace("{layer}", "0") + BIAS);
    Map<String, Object> norm = new LinkedHashMap<>();
    norm.put("name", name);
    norm.put("norm", bias ? "layernorm" : kind);
    norm.put("kept", KEPT);
    if (of.size() < layers && name.contains("{layer}")) {
      norm.put("optional", true);
    }
    return norm;
  }

  private static String withoutWeight(String name) {
    return name.substring(0, name.length() - WEIGHT.length());
  }
}
