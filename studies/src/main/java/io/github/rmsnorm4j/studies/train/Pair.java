package io.github.rmsnorm4j.studies.train;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A contender compared with another one, seed by seed. Each interval is that of a difference.
 *
 * @param one the contender
 * @param other what it is compared with
 * @param loss its loss at the end less the other's
 * @param learnedAt the step at which it learned the task less the other's, for seeds with which
 *     both learned it
 * @param stepMillis its median step less the other's
 */
public record Pair(Row one, Row other, Interval loss, Interval learnedAt, Interval stepMillis) {
  static Pair of(
      Row one, List<Outcome> ones, Row other, List<Outcome> others, double learnedBelow) {
    return new Pair(
        one,
        other,
        Interval.of(differences(ones, others, Outcome::loss)),
        Interval.of(differences(ones, others, o -> o.firstBelow(learnedBelow))),
        Interval.of(differences(ones, others, Outcome::stepMillis)));
  }

  /** Over the seeds with which neither diverged and both have the value. */
  static double[] differences(
      List<Outcome> ones, List<Outcome> others, ToDoubleFunction<Outcome> value) {
    return ones.stream()
        .flatMap(
            a ->
                others.stream()
                    .filter(b -> b.run().seed() == a.run().seed())
                    .filter(b -> !a.isDiverged() && !b.isDiverged())
                    .map(b -> value.applyAsDouble(a) - value.applyAsDouble(b)))
        .mapToDouble(Double::doubleValue)
        .filter(difference -> !Double.isNaN(difference))
        .toArray();
  }
}
