package io.github.rmsnorm4j.models.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * In what norms differ that rows do not tell apart.
 *
 * @param named the norms, likeliest first; one or more
 */
record Differences(List<Finding> named) {
  /** So many values of a choice are written out. */
  private static final int WRITTEN = 8;

  private static final Map<String, Function<Finding, Object>> CHOICES = new LinkedHashMap<>();

  static {
    CHOICES.put("kind", Finding::kind);
    CHOICES.put("cast order", norm -> norm.castOrders().getFirst());
    CHOICES.put("epsilon", norm -> Candidate.epsilonText(norm.epsilon()));
    CHOICES.put("place of epsilon", Finding::epsilonAt);
    CHOICES.put("part", norm -> "first " + norm.part());
    CHOICES.put("groups", Finding::groups);
    CHOICES.put("gain offset", norm -> (long) norm.gainOffset());
    CHOICES.put("gain rounded to", norm -> norm.gainType() == null ? "nothing" : norm.gainType());
    CHOICES.put("residual rounded", Finding::residualRounding);
    CHOICES.put("type of the row", Finding::inputType);
    CHOICES.put("type of the output", Finding::outputType);
  }

  /** The first norm, without its epsilon where the rows hide that. */
  String name() {
    String norm = named.getFirst().norm();
    return hidesEpsilon() ? norm.replaceFirst(", eps [^,]*", "") : norm;
  }

  /**
   * Says what Y is: the first norm, and the others that these rows do not tell from it.
   *
   * @param what Y is by the first norm
   * @param equal how much of Y that norm makes
   * @param or the words before the others
   */
  List<String> sentences(String what, String equal, String or) {
    if (named.size() == 1) {
      return List.of(what + ": " + equal + ".");
    }
    String others =
        named.size() == 2 ? "another norm" : "one of %s norms".formatted(named.size() - 1);
    List<String> sentences = new ArrayList<>();
    sentences.add(
        "%s (%s), %s %s that these rows do not tell from it: %s."
            .formatted(what, equal, or, others, this));
    if (differ("epsilon") || differ("place of epsilon")) {
      sentences.add("Rows with a mean square near epsilon tell epsilons and their places apart.");
    }
    if (differ("kind")) {
      sentences.add("Rows with a mean far from 0 tell RMSNorm from LayerNorm.");
    }
    if (differ("part")) {
      sentences.add("Rows whose first elements are larger than the others tell parts apart.");
    }
    return sentences;
  }

  /** The choices in which the named norms differ, each with its values. */
  @Override
  public String toString() {
    List<String> differences = new ArrayList<>();
    for (String choice : CHOICES.keySet()) {
      List<String> values = values(choice);
      if (values.size() < 2 || hidesEpsilon() && choice.equals("place of epsilon")) {
        continue;
      }
      boolean hides = hidesEpsilon() && choice.equals("epsilon");
      List<String> shown = values.subList(0, Math.min(WRITTEN, values.size()));
      String more = values.size() > WRITTEN ? ", %s more".formatted(values.size() - WRITTEN) : "";
      differences.add(
          hides
              ? "epsilon, which these rows hide"
              : choice + " " + String.join(", ", shown) + more);
    }
    return String.join("; ", differences);
  }

  private List<String> values(String choice) {
    return named.stream().map(CHOICES.get(choice)).map(String::valueOf).distinct().toList();
  }

  private boolean differ(String choice) {
    return values(choice).size() > 1;
  }

  /** Whether rows are so large that no epsilon fits as well as others. */
  private boolean hidesEpsilon() {
    return differ("epsilon") && named.stream().anyMatch(norm -> norm.epsilon() == 0);
  }
}
