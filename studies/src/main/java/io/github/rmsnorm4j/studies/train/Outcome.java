package io.github.rmsnorm4j.studies.train;

import java.util.List;

/**
 * How a training went.
 *
 * @param run which
 * @param parameters of its model
 * @param steps that were taken
 * @param tokensPerStep tokens of a batch
 * @param loss on held-out batches at the end; NaN if it diverged
 * @param accuracy on them
 * @param seconds in steps
 * @param stepMillis median of a step, its first tenth left out
 * @param shares of those steps' time
 * @param curve the loss on the way; empty, as the depth, for trainings that choose a rate
 * @param before the depth as it was in the first step
 * @param after and in the last one
 * @param diverged how it diverged; empty if it did not
 */
public record Outcome(
    Run run,
    long parameters,
    long steps,
    int tokensPerStep,
    double loss,
    double accuracy,
    double seconds,
    double stepMillis,
    Shares shares,
    List<Point> curve,
    List<Layer> before,
    List<Layer> after,
    String diverged) {
  boolean isDiverged() {
    return !diverged.isEmpty();
  }

  /** The first step, of those that the curve has, with a loss below a limit; NaN without one. */
  double firstBelow(double limit) {
    return curve.stream()
        .filter(point -> point.loss() < limit)
        .mapToDouble(Point::step)
        .findFirst()
        .orElse(Double.NaN);
  }

  /** For the choice of a rate: a training that diverged is worse than any other. */
  double lossOrInfinity() {
    return isDiverged() ? Double.POSITIVE_INFINITY : loss;
  }
}
