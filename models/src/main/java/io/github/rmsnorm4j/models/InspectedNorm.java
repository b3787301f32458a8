package io.github.rmsnorm4j.models;

import java.util.Optional;

/**
 * A norm of a stored model and what its gain is like.
 *
 * @param site the norm
 * @param epsilonFrom the setting that holds its epsilon; empty if none does
 * @param type the type that the gain is stored in, as {@code bf16}; empty if there is no gain
 * @param gain what the gain is like; empty if there is none
 */
public record InspectedNorm(
    NormSite site,
    Optional<String> epsilonFrom,
    Optional<String> type,
    Optional<GainStatistics> gain) {

  /**
   * {@return whether the stored numbers look otherwise than the architecture stores its gains;
   * false also where they may be either}
   */
  public boolean isDoubtful() {
    return gain.flatMap(GainStatistics::looksLike)
        .map(looks -> looks != site.spec().gainOffset())
        .orElse(false);
  }
}
