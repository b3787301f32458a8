package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.rmsnorm4j.report.Records;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class TrainingVerdictsTest {
  private static final ToDoubleFunction<Run> LEARNED = run -> 0.99;

  /** Of a seed alone, so that it is the same for both norms. */
  private static double noise(Run run) {
    return 0.1 * run.seed();
  }

  /** RMSNorm has so much more loss and so much more time; the same for each seed, but for a bit. */
  private static Verdicts differing(double loss, double millis) {
    return new Verdicts(
        SyntheticResults.usual(
            run -> 1 + noise(run) + (SyntheticResults.isRms(run) ? loss + 1e-3 * noise(run) : 0),
            LEARNED,
            run ->
                5 + noise(run) + (SyntheticResults.isRms(run) ? millis + 1e-3 * noise(run) : 0)));
  }

  @Test
  void aLowerLossIsSaidToBeLowerAndAHigherOneHigher() {
    assertThat(differing(-0.05, 0).quality())
        .singleElement()
        .asString()
        .startsWith("RMSNorm ended at a lower loss than LayerNorm: -0.0498 nats, -0.0500 to")
        .contains("95 % interval of 3 paired seeds, Student's t");
    assertThat(differing(0.05, 0).quality())
        .singleElement()
        .asString()
        .startsWith("RMSNorm ended at a higher loss than LayerNorm: +0.0502 nats");
  }

  @Test
  void whereTheSignTurnsWithTheSeedNoDifferenceIsFound() {
    Results results =
        SyntheticResults.usual(
            run -> 1 + (SyntheticResults.isRms(run) ? (run.seed() % 2 == 0 ? 0.1 : -0.1) : 0),
            LEARNED,
            run -> 5 + (SyntheticResults.isRms(run) ? (run.seed() % 2 == 0 ? 1 : -1) : 0));
    Verdicts verdicts = new Verdicts(results);
    assertThat(verdicts.quality())
        .singleElement()
        .asString()
        .startsWith(
            "No difference found between the final losses of RMSNorm and LayerNorm: -0.0333");
    assertThat(verdicts.speed().getFirst())
        .startsWith("No difference found between the times of a step with RMSNorm and LayerNorm:");
    assertThat(verdicts.all().getFirst()).startsWith("No difference found");
  }

  /** Too short for a conclusion about time, and one seed has no worst. */
  @Test
  void aQuickRunOfOneSeed() {
    Plans.Wishes wishes = new Plans.Wishes(100, 1, null, null, null, null, List.of(), List.of());
    Results results =
        SyntheticResults.results(
            Plans.of(Plan.Kind.QUICK, null, wishes), run -> 1, run -> 0.182, run -> 5);
    assertThat(String.join(" ", new Verdicts(results).all()))
        .contains("did not learn the task: ", " 18.2 % with 1 seed.", "Norms took 10.0 %")
        .doesNotContain("cannot save", "the worst");
  }

  @Test
  void equalLossesAreNoDifference() {
    Verdicts verdicts = new Verdicts(SyntheticResults.usual(run -> 1, LEARNED, run -> 5));
    assertThat(verdicts.quality().getFirst()).startsWith("No difference found");
    assertThat(verdicts.speed().getFirst()).startsWith("No difference found");
  }

  @Test
  void timeIsJudgedByItsOwnInterval() {
    assertThat(differing(0, -1).speed().getFirst())
        .startsWith("A step took less time with RMSNorm than with LayerNorm: 4.20 ms against 5.20");
    assertThat(differing(0, 1).speed().getFirst())
        .startsWith("A step took more time with RMSNorm than with LayerNorm: 6.20 ms against 5.20");
    assertThat(differing(0, 1).speed().getLast())
        .startsWith("Norms took 10.0 % (LayerNorm), 10.0 %");
  }

  /** RMSNorm needs so many steps more, with the third seed one more, than LayerNorm's 600. */
  private static Verdicts learning(ToDoubleFunction<Run> more) {
    return new Verdicts(
        SyntheticResults.learning(
            SyntheticResults.usual(run -> 0, LEARNED, run -> 5),
            run -> 600 + (SyntheticResults.isRms(run) ? more.applyAsDouble(run) : 0)));
  }

  @Test
  void paceIsJudgedByTheStepsItTook() {
    assertThat(learning(run -> -100 + run.seed() / 3).pace())
        .containsExactly(
            "RMSNorm took fewer steps than LayerNorm to learn the task: -100, -101 to -98 (mean and"
                + " 95 % interval of 3 paired seeds; learned means a loss under 0.69 nats).");
    assertThat(learning(run -> 100 + run.seed() / 3).pace().getFirst())
        .startsWith(
            "RMSNorm took more steps than LayerNorm to learn the task: +100, +99 to +102 (");
    assertThat(learning(run -> run.seed() % 2 == 0 ? 100 : -100).pace().getFirst())
        .startsWith(
            "No difference found between the steps that RMSNorm and LayerNorm took to learn the"
                + " task: -33, ");
    assertThat(learning(run -> 0).pace().getFirst()).startsWith("No difference found");
  }

  @Test
  void paceIsOfSeedsWithWhichBothLearned() {
    assertThat(learning(run -> run.seed() == 2 ? Double.NaN : 50).pace().getFirst())
        .startsWith("RMSNorm took more steps than LayerNorm to learn the task: +50, +50 to +50")
        .contains("2 paired seeds, without 1 seed that did not learn it with one of the two;");
    assertThat(learning(run -> run.seed() == 2 ? 50 : Double.NaN).pace()).isEmpty();
  }

  @Test
  void oneSeedThatDidNotLearnIsTold() {
    ToDoubleFunction<Run> accuracy =
        run -> SyntheticResults.isRms(run) && run.seed() == 2 ? 0.3 : 0.99;
    Verdicts verdicts = new Verdicts(SyntheticResults.usual(run -> 1, accuracy, run -> 5));
    assertThat(verdicts.learned())
        .containsExactly(
            "LayerNorm learned the task: recall accuracy 99.0 %, 99.0 % in the worst of 3 seeds.",
            "RMSNorm did not learn the task with every seed: recall accuracy 76.0 %, 30.0 % in the worst of 3 seeds.");
  }

  @Test
  void trainingsThatDivergedAreCountedAndNotAveraged() {
    Verdicts one =
        new Verdicts(
            SyntheticResults.usual(
                run -> SyntheticResults.isRms(run) && run.seed() == 2 ? Double.NaN : 1,
                LEARNED,
                run -> 5));
    assertThat(one.learned().getLast()).contains("worst of 2 seeds; 1 more diverged");
    assertThat(one.quality().getFirst())
        .contains("2 paired seeds, without 1 seed that diverged with one of the two, Student's t");

    Verdicts all =
        new Verdicts(
            SyntheticResults.usual(
                run -> SyntheticResults.isRms(run) ? Double.NaN : 1, LEARNED, run -> 5));
    assertThat(all.learned().getLast()).isEqualTo("RMSNorm diverged with all of 3 seeds.");
    assertThat(all.quality().getFirst()).startsWith("No verdict on the losses");
  }

  @Test
  void whatSoSmallARunCannotShowIsAlwaysSaid() {
    assertThat(differing(0.05, 0).all().getLast())
        .contains("27,000 parameters", "51,200 tokens a training", "3 seeds")
        .contains("cannot show which norm is better in a large model")
        .doesNotContain("there may be one");
    assertThat(new Verdicts(SyntheticResults.usual(run -> 1, LEARNED, run -> 5)).limits())
        .endsWith("there may be one of up to about 0.0000 nats.");
    // By seed -0.1, +0.1, -0.1: the interval is -0.3202 to +0.2535.
    assertThat(
            new Verdicts(
                    SyntheticResults.usual(
                        run ->
                            1
                                + (SyntheticResults.isRms(run)
                                    ? (run.seed() % 2 == 0 ? 0.1 : -0.1)
                                    : 0),
                        LEARNED,
                        run -> 5))
                .limits())
        .endsWith("there may be one of up to about 0.3202 nats.");
  }

  @Test
  void theRateIsChosenOnSeedsThatAreNotReported() {
    Plan plan =
        Plans.of(
            Plan.Kind.NORMS,
            null,
            new Plans.Wishes(10, 5, null, null, null, null, List.of(1e-3, 2e-3, 4e-3), List.of()));
    assertThat(plan.tuningSeeds()).doesNotContainAnyElementsOf(plan.seeds()).hasSize(5);
    Results results =
        SyntheticResults.results(
            plan,
            run ->
                run.rate() == 4e-3 && run.seed() == 1003
                    ? Double.NaN // It would be the best otherwise.
                    : Math.abs(run.rate() - (SyntheticResults.isRms(run) ? 1e-3 : 5e-3)),
            LEARNED,
            run -> 5);
    assertThat(results.rows())
        .extracting(Row::name, Row::rate)
        .contains(tuple("RMSNorm", 1e-3), tuple("LayerNorm", 2e-3));
    assertThat(results.outcomes()).hasSize(4 * (3 * 5 + 5)).hasSize(plan.trainings());
  }

  @Test
  void resultsAreReadBackFromTheirJson() throws Exception {
    Results results = SyntheticResults.usual(run -> 1, LEARNED, run -> 5);
    assertThat(Records.read(Results.Document.class, results.json()).results()).isEqualTo(results);
  }
}
