package io.github.rmsnorm4j.models.check;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * In what norms differ that rows do not tell apart.
 *
 * @param named the norms, likeliest first; one or more
 */
record Differences(List<Finding> named) {
  /** So many values of a choice are written out. */
  private static final int WRITTEN = 8;

  /** The first norm, without its epsilon where the rows hide that. */
  String name() {
    String norm = named.getFirst().norm();
    return hidden() ? norm.replaceFirst(", eps [^,]*", "") : norm;
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
    sentences.addAll(hints());
    return sentences;
  }

  /** The choices in which the named norms differ, each with its values. */
  @Override
  public String toString() {
    List<String> differences = new ArrayList<>();
    difference(differences, "kind", Finding::kind);
    difference(differences, "cast order", norm -> norm.castOrders().getFirst());
    if (hidden()) {
      differences.add("epsilon, which these rows hide");
    } else {
      difference(differences, "epsilon", norm -> Statistic.epsilonText(norm.epsilon()));
      difference(differences, "place of epsilon", Finding::epsilonAt);
    }
    if (named.stream().map(Finding::part).distinct().count() > 2) {
      differences.add("the part of a row, which these rows hide");
    } else {
      difference(differences, "part", norm -> "first " + norm.part());
    }
    difference(differences, "gain offset", norm -> "" + (long) norm.gainOffset());
    difference(
        differences,
        "gain rounded to",
        norm -> norm.gainType() == null ? "nothing" : norm.gainType());
    difference(differences, "residual rounded", Finding::residualRounding);
    difference(differences, "type of the row", Finding::inputType);
    difference(differences, "type of the output", Finding::outputType);
    difference(differences, "bias", Finding::biasAddition);
    return String.join("; ", differences);
  }

  private void difference(List<String> all, String choice, Function<Finding, String> value) {
    List<String> values = named.stream().map(value).distinct().toList();
    if (values.size() > 1) {
      String more = values.size() > WRITTEN ? ", %s more".formatted(values.size() - WRITTEN) : "";
      all.add(
          choice
              + " "
              + String.join(", ", values.subList(0, Math.min(WRITTEN, values.size())))
              + more);
    }
  }

  /** Which rows would tell. */
  List<String> hints() {
    List<String> sentences = new ArrayList<>();
    if (differ(Finding::epsilon) || differ(Finding::epsilonAt)) {
      sentences.add("Rows with a mean square near epsilon tell epsilons and their places apart.");
    }
    if (differ(norm -> norm.kind().startsWith("RMS"))) {
      sentences.add("Rows with a mean far from 0 tell RMSNorm from LayerNorm.");
    }
    if (differ(Finding::part)) {
      sentences.add("Rows whose first elements are larger than the others tell parts apart.");
    }
    return sentences;
  }

  /** Whether rows are so large that no epsilon fits as well as others. */
  private boolean hidden() {
    return differ(Finding::epsilon) && named.stream().anyMatch(norm -> norm.epsilon() == 0);
  }

  private boolean differ(Function<Finding, Object> value) {
    return named.stream().map(value).distinct().count() > 1;
  }
}
