package io.github.rmsnorm4j.studies.train;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A contender's reported trainings together.
 *
 * @param name of the contender
 * @param contender which
 * @param rate at which it was trained
 * @param seeds how many trainings came to their end
 * @param diverged how many did not
 * @param parameters of the model
 * @param loss at the end on held-out batches: mean, standard deviation, 95 % interval
 * @param accuracy mean over the seeds
 * @param lowestAccuracy of the worst seed
 * @param learnedAt the step at which a training learned the task, over the seeds that learned it
 * @param stepMillis medians of a step, over the seeds
 * @param shares of a step's time, mean over the seeds
 */
public record Row(
    String name,
    Contender contender,
    double rate,
    int seeds,
    int diverged,
    long parameters,
    Interval loss,
    double accuracy,
    double lowestAccuracy,
    Interval learnedAt,
    Interval stepMillis,
    Shares shares) {

  static Row of(String name, Contender contender, List<Outcome> reported, double learnedBelow) {
    List<Outcome> ended = reported.stream().filter(o -> !o.isDiverged()).toList();
    return new Row(
        name,
        contender,
        reported.getFirst().run().rate(),
        ended.size(),
        reported.size() - ended.size(),
        reported.getFirst().parameters(),
        Interval.of(values(ended, Outcome::loss)),
        mean(ended, Outcome::accuracy),
        ended.stream().mapToDouble(Outcome::accuracy).min().orElse(Double.NaN),
        Interval.of(
            ended.stream()
                .mapToDouble(o -> o.firstBelow(learnedBelow))
                .filter(step -> !Double.isNaN(step))
                .toArray()),
        Interval.of(values(ended, Outcome::stepMillis)),
        new Shares(
            mean(ended, o -> o.shares().norm()),
            mean(ended, o -> o.shares().attention()),
            mean(ended, o -> o.shares().mlp()),
            mean(ended, o -> o.shares().rest())));
  }

  private static double[] values(List<Outcome> outcomes, ToDoubleFunction<Outcome> value) {
    return outcomes.stream().mapToDouble(value).toArray();
  }

  private static double mean(List<Outcome> outcomes, ToDoubleFunction<Outcome> value) {
    return outcomes.stream().mapToDouble(value).average().orElse(Double.NaN);
  }
}
