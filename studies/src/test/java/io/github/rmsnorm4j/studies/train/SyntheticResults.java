package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.models.transformer.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Results that nobody measured. */
final class SyntheticResults {
  static final Contender LAYER = new Contender(TrainedNorm.LAYER_NORM, Placement.PRE, 2);
  static final Contender RMS = new Contender(TrainedNorm.RMS_NORM, Placement.PRE, 2);

  private SyntheticResults() {}

  static Plan plan() {
    return Plans.of(
        Plan.Kind.USUAL,
        null,
        new Plans.Wishes(100, 3, null, null, null, null, List.of(), List.of()));
  }

  /** Losses and milliseconds of a step for each run of the usual plan. */
  static Results usual(
      ToDoubleFunction<Run> loss, ToDoubleFunction<Run> accuracy, ToDoubleFunction<Run> millis) {
    return results(plan(), loss, accuracy, millis);
  }

  static Results results(
      Plan plan,
      ToDoubleFunction<Run> loss,
      ToDoubleFunction<Run> accuracy,
      ToDoubleFunction<Run> millis) {
    List<Outcome> outcomes = new ArrayList<>();
    plan.tuning().forEach(run -> outcomes.add(outcome(run, loss, accuracy, millis)));
    List<Run> reported = plan.reported(List.copyOf(outcomes));
    reported.forEach(run -> outcomes.add(outcome(run, loss, accuracy, millis)));
    return new Results(
        new Results.Circumstances(
            "rmsnorm 1",
            "2026-01-01T00:00:00Z",
            "./rmsnorm train",
            new Machine("a processor", 2, "a system", "a JVM", List.of(), "kernels", 256),
            2),
        plan,
        outcomes);
  }

  /** The same, with the step after which a run had learned the task; NaN if it never had. */
  static Results learning(Results results, ToDoubleFunction<Run> step) {
    return new Results(
        results.circumstances(),
        results.plan(),
        results.outcomes().stream().map(o -> learning(o, step.applyAsDouble(o.run()))).toList());
  }

  private static Outcome learning(Outcome o, double step) {
    List<Point> curve = new ArrayList<>(List.of(new Point(1, 0.1, 3.4)));
    if (!Double.isNaN(step)) {
      curve.add(new Point((long) step, 1, 0.6));
      curve.add(new Point((long) step + 50, 1, 0.9));
    }
    return new Outcome(
        o.run(),
        o.parameters(),
        o.steps(),
        o.tokensPerStep(),
        o.loss(),
        o.accuracy(),
        o.seconds(),
        o.stepMillis(),
        o.shares(),
        curve,
        o.before(),
        o.after(),
        o.diverged());
  }

  static Outcome outcome(
      Run run,
      ToDoubleFunction<Run> loss,
      ToDoubleFunction<Run> accuracy,
      ToDoubleFunction<Run> millis) {
    double end = loss.applyAsDouble(run);
    List<Layer> depth = List.of(new Layer(0, 1, 1e-3, 0.1), new Layer(1, 2, 1e-3, 0.2));
    return new Outcome(
        run,
        27_000,
        100,
        512,
        end,
        accuracy.applyAsDouble(run),
        1,
        millis.applyAsDouble(run),
        new Shares(0.1, 0.4, 0.4, 0.1),
        List.of(new Point(50, 0.5, 2), new Point(100, 1, 1)),
        depth,
        depth,
        Double.isNaN(end) ? "the loss is NaN at step 7" : "");
  }

  static boolean isRms(Run run) {
    return run.contender().norm() == TrainedNorm.RMS_NORM;
  }
}
