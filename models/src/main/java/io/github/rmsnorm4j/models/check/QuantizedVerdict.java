package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.QuantizedType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What was found of quantised rows, in sentences.
 *
 * @param type the name of their type
 * @param named the norms and rules that make every byte
 * @param others the nearest others
 * @param differences in what the named norms differ
 * @param presets names of rules that {@code normalize --quantizer} takes
 * @param given the rows that the norm was given besides X, such as "gain"
 */
record QuantizedVerdict(
    String type,
    List<QuantizedFinding> named,
    List<QuantizedFinding> others,
    Differences differences,
    Set<String> presets,
    List<String> given) {

  List<String> sentences() {
    List<String> sentences = new ArrayList<>();
    if (named.isEmpty()) {
      none(sentences);
      return sentences;
    }
    QuantizedFinding first = named.getFirst();
    String equal =
        "%s and %s that were compared are all equal"
            .formatted(counted(first.codes(), "code"), counted(first.scales(), "scale"));
    String what = "Y is " + type + " of " + differences.name() + " by " + rules(first);
    sentences.addAll(differences.sentences(what, equal, "or of"));
    if (first.rules().size() > 1) {
      sentences.add("These rules make the same bytes of these rows.");
      if (type.equals(QuantizedType.Q8_K.toString())) {
        sentences.add(
            "For q8_k, rules differ only in whether they first round the output to the type of X.");
      }
    }
    first.rules().stream()
        .filter(rule -> first.spec() != null && presets.contains(rule))
        .findFirst()
        .map(
            rule ->
                "normalize --like '%s' --quantize %s --quantizer %s%s computes these bytes."
                    .formatted(first.spec(), type, rule, with()))
        .ifPresent(sentences::add);
    if (!others.isEmpty()) {
      QuantizedFinding other = others.getFirst();
      sentences.add(
          "The nearest other, %s by %s, differs in %s and %s."
              .formatted(
                  other.norm(),
                  rules(other),
                  counted(other.codes() - other.equalCodes(), "code"),
                  counted(other.scales() - other.equalScales(), "scale")));
    }
    return sentences;
  }

  private String with() {
    return given.isEmpty() ? "" : " with the same " + String.join(" and ", given);
  }

  private void none(List<String> sentences) {
    QuantizedFinding best = others.getFirst();
    sentences.add("None of the norms known here made Y.");
    sentences.add(
        String.format(
            Locale.ROOT,
            "The best, %s by %s, makes %,d of %s and %,d of %s.",
            best.norm(),
            rules(best),
            best.equalCodes(),
            counted(best.codes(), "code"),
            best.equalScales(),
            counted(best.scales(), "scale")));
    if (best.equalCodes() == best.codes()) {
      sentences.add(
          "Only scales differ: the rule fits, and epsilon or the part of a row is in no table, or rstd is a few ulp off.");
    } else if (best.largestStep() == 1) {
      sentences.add(
          "Codes differ by 1 at most: the norm may fit, with another rounding or an rstd that is a few ulp off.");
    }
  }

  private static String counted(long count, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", count, what, count == 1 ? "" : "s");
  }

  private static String rules(QuantizedFinding finding) {
    return (finding.rules().size() == 1 ? "the rule " : "the rules ") + finding.rulesText();
  }
}
