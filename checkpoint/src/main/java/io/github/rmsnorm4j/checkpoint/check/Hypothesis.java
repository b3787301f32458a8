package io.github.rmsnorm4j.checkpoint.check;

import java.util.List;

/**
 * One norm that may have made Y.
 *
 * @param form how elements follow
 * @param orders the cast orders that give this form; more than one where the types make no
 *     difference between them
 * @param statistic what rstd is made of
 */
record Hypothesis(Form form, List<CastForm> orders, Statistic statistic) {
  /** RMSNorm or LayerNorm, and how its mean and variance are taken. */
  String kind() {
    return form.centring() + (statistic.sample() ? " with sample variance" : "");
  }

  /** In the field's words, for example "RMSNorm, llama, eps 1e-5". */
  String words(Types types, int width) {
    return kind() + ", " + orders.getFirst() + ", " + statistic.words(width) + form.words(types);
  }
}
