package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.Family.NormRule;
import io.github.rmsnorm4j.models.Family.Premise;
import io.github.rmsnorm4j.models.Family.Tied;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes a {@link Family} from the rules in a file.
 *
 * @param reasons the texts that rules refer to by a word
 */
record FamilyReader(Map<String, String> reasons) {
  private static final String TIED_IF_NOT_STORED = "if the head is not stored";

  static final Set<String> OF_NORM =
      Set.of(
          "name",
          "norm",
          "epsilon",
          "groups",
          "gain",
          "heads",
          "consumers",
          "or_consumers",
          "kept",
          "note",
          "optional");

  /** The fields of a family; those of a norm hold for all norms that have none of their own. */
  static final Set<String> OF_FAMILY =
      Set.of(
          "family",
          "like",
          "model_types",
          "gguf_architectures",
          "prefixes",
          "counts",
          "may_lack",
          "width",
          "inputs_first",
          "embeddings",
          "head",
          "tied",
          "tied_head_power_of_width",
          "head_scaled",
          "norm",
          "epsilon",
          "gain",
          "norms",
          "writers",
          "others",
          "premises",
          "converted");

  Family read(Rules rules) throws FormatException {
    rules.allow(OF_FAMILY);
    return new Family(
        rules.text("family"),
        rules.texts("model_types"),
        rules.texts("gguf_architectures"),
        prefixes(rules),
        counts(rules),
        rules.has("may_lack") ? texts(rules.object("may_lack")) : Map.of(),
        rules.someTexts("width"),
        Set.copyOf(rules.texts("inputs_first")),
        patterns(rules, "embeddings", rules.someTexts("embeddings")),
        pattern(rules, "head", rules.text("head")),
        tied(rules),
        rules.number("tied_head_power_of_width", 0),
        rules.texts("head_scaled"),
        norms(rules),
        patterns(rules, "writers", rules.texts("writers")),
        patterns(rules, "others", rules.texts("others")),
        premises(rules),
        rules.optionalText("converted"));
  }

  private static NamePattern pattern(Rules rules, String field, String text)
      throws FormatException {
    try {
      return NamePattern.of(text);
    } catch (IllegalArgumentException e) {
      String shown = Printable.shortened(text);
      throw rules.wrong("%s has '%s', which %s".formatted(field, shown, e.getMessage()));
    }
  }

  private static List<NamePattern> patterns(Rules rules, String field, List<String> texts)
      throws FormatException {
    List<NamePattern> patterns = new ArrayList<>();
    for (String text : texts) {
      patterns.add(pattern(rules, field, text));
    }
    return patterns;
  }

  private static List<String> prefixes(Rules rules) throws FormatException {
    List<String> prefixes = rules.has("prefixes") ? rules.texts("prefixes") : List.of("");
    for (String prefix : prefixes) {
      if (prefix.contains("{") || prefix.contains("}")) {
        String shown = Printable.shortened(prefix);
        throw rules.wrong("prefixes has '%s', a prefix has no braces".formatted(shown));
      }
    }
    return prefixes;
  }

  private static Map<String, List<String>> counts(Rules rules) throws FormatException {
    Rules counts = rules.object("counts");
    Map<String, List<String>> keys = new LinkedHashMap<>();
    for (String counter : counts.fields().keySet()) {
      keys.put(counter, counts.someTexts(counter));
    }
    return keys;
  }

  private static Map<String, String> texts(Rules rules) throws FormatException {
    Map<String, String> texts = new LinkedHashMap<>();
    for (String key : rules.fields().keySet()) {
      texts.put(key, rules.text(key));
    }
    return texts;
  }

  private static Tied tied(Rules rules) throws FormatException {
    if (rules.isObject("tied")) {
      Rules tied = rules.object("tied");
      tied.allow(Set.of("keys", "default"));
      return new Tied(tied.texts("keys"), tied.flag("default", false));
    }
    if (!rules.text("tied").equals(TIED_IF_NOT_STORED)) {
      throw rules.wrong("tied is neither an object nor '" + TIED_IF_NOT_STORED + "'");
    }
    return new Tied(List.of(), true);
  }

  private List<NormRule> norms(Rules rules) throws FormatException {
    List<NormRule> norms = new ArrayList<>();
    for (Rules rule : rules.objects("norms", true)) {
      rule.allow(OF_NORM);
      norms.add(
          new NormRule(
              pattern(rule, "name", rule.text("name")),
              spec(rule),
              rule.texts("epsilon"),
              rule.texts("groups"),
              rule.flag("gain", true),
              rule.flag("heads", false),
              patterns(rule, "consumers", rule.texts("consumers")),
              patterns(rule, "or_consumers", rule.texts("or_consumers")),
              reason(rule, "kept"),
              reason(rule, "note"),
              rule.flag("optional", false)));
    }
    if (norms.isEmpty()) {
      throw rules.wrong("norms is empty, it must have one rule or more");
    }
    return norms;
  }

  private static NormSpec spec(Rules rule) throws FormatException {
    NormSpec spec;
    try {
      spec = NormSpec.parse(rule.text("norm"));
    } catch (IllegalArgumentException e) {
      throw rule.wrong(e.getMessage());
    }
    // A folded gain is 1, and 1 less the offset must be a number of every type.
    if (spec.gainOffset() != 0 && spec.gainOffset() != 1) {
      throw rule.wrong("norm is '%s', its offset must be 0 or 1".formatted(spec));
    }
    if (rule.has("groups") && !spec.part().isWhole()) {
      throw rule.wrong("norm is '%s', with groups its part must be 1".formatted(spec));
    }
    return spec;
  }

  private Optional<String> reason(Rules rule, String field) throws FormatException {
    return rule.optionalText(field).map(reason -> reasons.getOrDefault(reason, reason));
  }

  private static List<Premise> premises(Rules rules) throws FormatException {
    List<Premise> premises = new ArrayList<>();
    for (Rules premise : rules.objects("premises", false)) {
      premise.allow(Set.of("key", "must_be", "default", "else"));
      premises.add(
          new Premise(
              premise.text("key"),
              premise.flag("must_be", true),
              premise.flag("default", true),
              premise.text("else")));
    }
    return premises;
  }
}
