package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.models.transformer.Placement;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class DepthVerdictsTest {
  private static Results results(ToDoubleFunction<Run> loss, ToDoubleFunction<Run> accuracy) {
    Plan plan =
        Plans.of(
            Plan.Kind.DEPTH,
            null,
            new Plans.Wishes(600, 2, null, null, null, null, List.of(), List.of(4, 8)));
    return SyntheticResults.results(plan, loss, accuracy, run -> 5);
  }

  /** Post-Norm stacks of 8 blocks are over the limit, those without a norm diverge. */
  private static double loss(Run run) {
    Contender contender = run.contender();
    if (contender.norm() == TrainedNorm.NONE) {
      return Double.NaN;
    }
    return contender.placement() == Placement.POST && contender.layers() == 8 ? 3 : 0.5;
  }

  private static boolean isRmsOfFour(Run run) {
    return SyntheticResults.isRms(run)
        && run.contender().placement() == Placement.PRE
        && run.contender().layers() == 4;
  }

  @Test
  void stacksUnderTheLimitAreNamed() {
    assertThat(new Verdicts(results(DepthVerdictsTest::loss, run -> 0.99)).all())
        .contains(
            "RMSNorm pre: a final loss under 2.08 nats with every seed at every depth from 4 to 8"
                + " blocks.",
            "RMSNorm post: a final loss under 2.08 nats with every seed in stacks of 4 blocks, and"
                + " not of 8.",
            "Norm-free: a final loss under 2.08 nats with every seed at no depth from 4 to 8"
                + " blocks.");
  }

  /** A loss under the limit is not the task learned. */
  @Test
  void stacksThatLearnedTheTaskAreNamed() {
    assertThat(new DepthVerdicts(results(run -> 1.5, run -> 0.27)).all())
        .contains(
            "In 600 steps no stack learned the task with every seed. The best mean recall accuracy"
                + " is 27.0 %; a guess among the values of a sequence gives 25.0 %.");
    assertThat(new DepthVerdicts(results(run -> 1.5, run -> isRmsOfFour(run) ? 0.95 : 0.94)).all())
        .anyMatch(s -> s.startsWith("In 600 steps RMSNorm pre, 4 blocks learned the task"));
  }

  @Test
  void everyDifferenceIsNamedAtEachDepth() {
    assertThat(
            new DepthVerdicts(
                    results(
                        run ->
                            1
                                + 0.1 * run.seed()
                                + (isRmsOfFour(run) ? 0.01 + 0.0002 * run.seed() : 0),
                        run -> 0.5))
                .all())
        .last()
        .asString()
        .startsWith(
            "Final loss compared with LayerNorm's at the same depth and placement, 10 comparisons: a"
                + " difference found in 1 (RMSNorm pre, 4 blocks +0.0103 (+0.0090 to +0.0116)), no"
                + " difference found in the others.");
    assertThat(new DepthVerdicts(results(run -> 1, run -> 0.5)).all().getLast())
        .contains("10 comparisons: no difference found. About one comparison in 20");
  }

  @Test
  void gradientsAreComparedAtBothEndsOfAStack() {
    Results results = results(run -> 1, run -> 0.5);
    // SyntheticResults has the same gradient at both.
    assertThat(results.gradientRatios(results.plan().contenders().getFirst()))
        .containsExactly(1.0, 1.0);
  }
}
