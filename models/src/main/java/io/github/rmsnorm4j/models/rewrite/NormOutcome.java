package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.NormSite;

/**
 * What happens to the gain and the bias of a norm.
 *
 * @param site the norm
 * @param fate what happens
 * @param reason why it is left alone, as the end of a sentence; empty if it is folded
 */
public record NormOutcome(NormSite site, Fate fate, String reason) {

  /** What happens to a norm's gain and bias. */
  public enum Fate {
    /** They go into the matrices that take the norm's output. */
    FOLDED,
    /** There is nothing to fold: every gain is 1 and every bias 0. */
    PLAIN,
    /** They stay. */
    KEPT,
    /** They stay because the head is tied; {@link Rewriting.Wish#untie} would fold them. */
    TIED
  }
}
