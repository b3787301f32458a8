package io.github.rmsnorm4j.studies.train;

import java.util.Locale;

/**
 * One training.
 *
 * @param stage what for
 * @param contender the model
 * @param rate the highest rate
 * @param seed of the initial weights and of the order of the data: the same for all contenders
 */
public record Run(Stage stage, Contender contender, double rate, long seed) {
  /** Its name in the folder of saved state. */
  String key() {
    return "%s-%s-%s-%s-%s-%s"
        .formatted(
            stage,
            contender.norm(),
            contender.placement(),
            contender.layers(),
            Double.toString(rate),
            seed)
        .toLowerCase(Locale.ROOT)
        .replace('_', '-');
  }

  /** For the line of progress. */
  String title() {
    return "%s, %s blocks, rate %s, seed %s"
        .formatted(contender.kind(), contender.layers(), Figures.rate(rate), seed);
  }
}
