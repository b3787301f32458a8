package io.github.rmsnorm4j.studies.compare;

import static io.github.rmsnorm4j.studies.compare.Variant.LAYER_FUSED;
import static io.github.rmsnorm4j.studies.compare.Variant.LAYER_NAIVE;
import static io.github.rmsnorm4j.studies.compare.Variant.RMS_FUSED;
import static io.github.rmsnorm4j.studies.compare.Variant.RMS_NAIVE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Other results make other sentences: each with its sign flipped, and with no difference. */
class VerdictsTest {
  private static Verdicts verdicts(SyntheticResults results) {
    return new Verdicts(results.results());
  }

  @Test
  void theHeadlineSaysHowMuchSlowerNaiveRmsNormIs() {
    assertThat(verdicts(new SyntheticResults().millis(RMS_NAIVE, 2500)).headline())
        .containsExactly(
            "On 128 x 1024 x 4096 float32 (forward), naive RMSNorm took 2.50 times as long as fused"
                + " LayerNorm (2.50 s against 1.00 s).");
  }

  @Test
  void theHeadlineTurnsRoundWhereItIsFaster() {
    assertThat(verdicts(new SyntheticResults().millis(RMS_NAIVE, 400)).headline().getFirst())
        .endsWith(
            "naive RMSNorm took 0.40 of the time of fused LayerNorm (400 ms against 1.00 s).");
  }

  @Test
  void timesThatOverlapAreNoDifferenceWhateverTheirMedians() {
    SyntheticResults results =
        new SyntheticResults()
            .millis(RMS_NAIVE, 900, 1800, 1900)
            .millis(LAYER_FUSED, 800, 850, 1000);
    assertThat(verdicts(results).headline().getFirst())
        .endsWith(
            "no difference found between the times of naive RMSNorm and fused LayerNorm (0.90 to 1.90"
                + " s; 0.80 to 1.00 s).");
  }

  @Test
  void timesThatOnlyJustDoNotOverlapDiffer() {
    SyntheticResults results =
        new SyntheticResults().millis(RMS_NAIVE, 1001, 1002).millis(LAYER_FUSED, 999, 1000);
    assertThat(verdicts(results).headline().getFirst()).contains("took 1.00 times as long as");
  }

  @Test
  void memoryIsComparedInItsOwnSentence() {
    assertThat(memory(6144, 4096))
        .isEqualTo(
            "Naive RMSNorm took 1.50 times the memory of fused LayerNorm (6.00 GiB against 4.00"
                + " GiB).");
    assertThat(memory(2048, 4096))
        .startsWith("Naive RMSNorm took 0.50 of the memory of fused LayerNorm");
    assertThat(memory(4100, 4096))
        .startsWith("No difference found between the memory of naive RMSNorm and fused LayerNorm");
  }

  private static String memory(long naive, long fused) {
    return verdicts(
            new SyntheticResults().mebibytes(RMS_NAIVE, naive).mebibytes(LAYER_FUSED, fused))
        .headline()
        .get(1);
  }

  @Test
  void withoutMemoryNothingIsSaidOfIt() {
    SyntheticResults results = new SyntheticResults();
    assertThat(verdicts(results).headline()).hasSize(1);
    assertThat(verdicts(results).fusion()).noneMatch(s -> s.contains("memory"));
  }

  @Test
  void fusionIsToldInEitherDirection() {
    assertThat(verdicts(new SyntheticResults().millis(RMS_FUSED, 500)).fusion())
        .containsExactly(
            "Fused RMSNorm took 0.50 of the time of fused LayerNorm (500 ms against 1.00 s).",
            "Fused RMSNorm took 0.50 of the time of naive RMSNorm (500 ms against 1.00 s).");
    assertThat(verdicts(new SyntheticResults().millis(RMS_FUSED, 3000)).fusion().getFirst())
        .startsWith("Fused RMSNorm took 3.00 times as long as fused LayerNorm");
    assertThat(verdicts(new SyntheticResults()).fusion().getFirst())
        .startsWith("No difference found between the times of fused RMSNorm and fused LayerNorm");
  }

  @Test
  void overheadIsToldOfBothForms() {
    SyntheticResults results =
        new SyntheticResults().millis(RMS_NAIVE, 700).millis(RMS_FUSED, 1200);
    assertThat(verdicts(results).overhead())
        .containsExactly(
            "128 x 1024 x 4096: fused RMSNorm took 1.20 times as long as fused LayerNorm (1.20 s"
                + " against 1.00 s).",
            "128 x 1024 x 4096: naive RMSNorm took 0.70 of the time of naive LayerNorm (700 ms"
                + " against 1.00 s).",
            "RMSNorm computes 4 operations per element, LayerNorm 7. Fused, both read and write 8"
                + " bytes per element. RMSNorm has 4,096 parameters, LayerNorm 8,192.");
  }

  @Test
  void otherPassesAndTypesHaveASentenceEachOnTheirLargest() {
    Results backward = new SyntheticResults().millis(RMS_FUSED, 250).results();
    Results forward = new SyntheticResults().results();
    Timing headline = forward.timings().getFirst();
    Results both =
        new Results(
            forward.run(),
            forward.headline(),
            List.of(
                of(backward, headline, Shape.of(1, 4096)),
                headline,
                of(backward, headline, Shape.of(64, 4096))),
            forward.memory(),
            forward.computeRoof(),
            forward.halfRows(),
            forward.notes(),
            forward.seconds());
    assertThat(new Verdicts(both).overhead())
        .filteredOn(sentence -> sentence.startsWith("backward"))
        .containsExactly(
            "backward, bfloat16, 64 x 4096: fused RMSNorm took 0.25 of the time of fused LayerNorm"
                + " (250 ms against 1.00 s).");
  }

  private static Timing of(Results times, Timing headline, Shape shape) {
    Subject subject = new Subject(Pass.BACKWARD, ElementType.BFLOAT16, shape);
    return new Timing(subject, headline.copy(), times.timings().getFirst().variants());
  }

  @Test
  void whetherFusionPaysForLayerNormIsSeen() {
    assertThat(layerNorm(3000, 1000))
        .startsWith("Yes. Fused, it reads and writes 8 bytes per element;")
        .contains(
            "operation by operation, 48. Here that saves time: fused LayerNorm took 0.33 of the"
                + " time of naive LayerNorm");
    assertThat(layerNorm(1000, 3000)).contains("Here that costs time: fused LayerNorm took 3.00");
    assertThat(layerNorm(1000, 1000)).contains("Here that saves no time: no difference found");
  }

  private static String layerNorm(double naive, double fused) {
    return verdicts(new SyntheticResults().millis(LAYER_NAIVE, naive).millis(LAYER_FUSED, fused))
        .layerNormFused()
        .getFirst();
  }

  @Test
  void theTimeOfACopyIsThatOfThisRun() {
    SyntheticResults results = new SyntheticResults().millis(RMS_FUSED, 625);
    assertThat(verdicts(results).howKernelsFuse().getLast())
        .isEqualTo(
            "In this run RMSNorm took 1.25 times as long as a copy of the tensor, LayerNorm 2.00"
                + " times.");
  }
}
