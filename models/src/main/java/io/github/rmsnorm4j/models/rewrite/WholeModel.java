package io.github.rmsnorm4j.models.rewrite;

/**
 * The logits of the whole model, before and after.
 *
 * @param tokens how many tokens were given to both
 * @param largest the largest absolute logit
 * @param difference the largest difference of a logit
 * @param roundings the largest difference of a logit if every weight of the model is changed at
 *     random by as much as one rounding can
 * @param allowed how many times {@code roundings} a difference may be
 */
public record WholeModel(
    int tokens, double largest, double difference, double roundings, int allowed) {

  /** {@return whether roundings cause the difference; false also if a logit is infinite or NaN} */
  public boolean holds() {
    return difference <= allowed * roundings;
  }
}
