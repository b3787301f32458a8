package io.github.rmsnorm4j.cli.train;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A contender beside the one that it is compared with, seed by seed: what it has more.
 *
 * @param one the contender
 * @param other what it is compared with
 * @param loss its loss at the end less the other's
 * @param stepMillis its median step less the other's
 */
public record Pair(Row one, Row other, Interval loss, Interval stepMillis) {
  static Pair of(Row one, List<Outcome> ones, Row other, List<Outcome> others) {
    List<Double> losses = new ArrayList<>();
    List<Double> millis = new ArrayList<>();
    for (Outcome a : ones) {
      Optional<Outcome> b =
          others.stream().filter(o -> o.run().seed() == a.run().seed()).findFirst();
      if (b.isPresent() && !a.isDiverged() && !b.get().isDiverged()) {
        losses.add(a.loss() - b.get().loss());
        millis.add(a.stepMillis() - b.get().stepMillis());
      }
    }
    return new Pair(one, other, interval(losses), interval(millis));
  }

  private static Interval interval(List<Double> values) {
    return Interval.of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
