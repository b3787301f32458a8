package io.github.rmsnorm4j.benchmarks.peers;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TargetTest {
  private static final Contest PROMPT = Contest.forward(Kernel.RMS_NORM, 128, 4096);
  private static final Contest LAYER_NORM = Contest.forward(Kernel.LAYER_NORM, 128, 4096);

  @Test
  void aRatioUpToTheLimitMeetsATargetAndALargerOneDoesNot() {
    assertThat(missed(figure(PROMPT, true, time(Systems.OWN, 63), time(Systems.ONEDNN, 60))))
        .isEmpty();
    assertThat(missed(figure(PROMPT, true, time(Systems.OWN, 64), time(Systems.ONEDNN, 60))))
        .containsExactly(
            "RMSNorm float32 128 x 4096: rmsnorm4j against oneDNN at most 1.05, one thread, is"
                + " 1.07");
    // Judged by the figure that is shown.
    assertThat(missed(figure(PROMPT, true, time(Systems.OWN, 63.2), time(Systems.ONEDNN, 60))))
        .isEmpty();
  }

  @Test
  void belowMeansBelow() {
    assertThat(
            missed(
                figure(LAYER_NORM, true, time(Systems.OWN_RMS_NORM, 99), time(Systems.OWN, 100))))
        .isEmpty();
    assertThat(
            missed(
                figure(LAYER_NORM, true, time(Systems.OWN_RMS_NORM, 100), time(Systems.OWN, 100))))
        .containsExactly(
            "LayerNorm float32 128 x 4096: rmsnorm4j RMSNorm against rmsnorm4j below 1.0, one"
                + " thread, is 1.00");
  }

  @Test
  void theJvmWithTheMiddleRatioCounts() {
    Figure slow = figure(PROMPT, true, time(Systems.OWN, 90), time(Systems.ONEDNN, 60));
    Figure fast = figure(PROMPT, true, time(Systems.OWN, 50), time(Systems.ONEDNN, 60));
    assertThat(missed(slow, fast, fast)).isEmpty();
    assertThat(missed(slow, fast, slow)).singleElement().asString().endsWith("is 1.50");
  }

  @Test
  void eachNumberOfThreadsIsJudged() {
    Entry own = time(Systems.OWN, 90);
    Entry other = time(Systems.ONEDNN, 60);
    assertThat(missed(new Figure(PROMPT, 2, true, List.of(own, other))))
        .singleElement()
        .asString()
        .contains(", 2 threads, is 1.50");
  }

  @Test
  void whatIsAloneOrRefusedIsNoTarget() {
    assertThat(judged(figure(PROMPT, false, time(Systems.OWN, 90), time(Systems.ONEDNN, 60))))
        .isZero();
    Entry refused = new Entry(Systems.ONEDNN, 0, 1, "not this type", List.of());
    assertThat(judged(figure(PROMPT, true, time(Systems.OWN, 90), refused))).isZero();
    assertThat(judged(figure(PROMPT, true, time(Systems.OWN, 90)))).isZero();
    assertThat(judged(figure(PROMPT, true, time(Systems.OWN, 90), time(Systems.ONEDNN, 60))))
        .isOne();
  }

  @Test
  void atLeastMeansAtLeast() {
    Contest token = Contest.forward(Kernel.RMS_NORM, 1, 4096);
    String two = Variant.twoCalls(QuantizedType.Q8_0).system(KernelKind.AVX2);
    String one = Variant.to(QuantizedType.Q8_0).system(KernelKind.AVX2);
    assertThat(missed(figure(token, true, time(one, 10), time(two, 17)))).isEmpty();
    assertThat(missed(figure(token, true, time(one, 10), time(two, 16.9))))
        .containsExactly(
            "RMSNorm float32 1 x 4096: rmsnorm4j norm, then q8_0, AVX2 against rmsnorm4j norm to"
                + " q8_0, AVX2 at least 1.7, one thread, is 1.69");
  }

  @Test
  void everyTargetIsAboutAContestOfARun() {
    Map<Run, List<Contest>> contests =
        Target.all().stream()
            .collect(groupingBy(TargetTest::run, mapping(Target::contest, toList())));
    assertThat(contests).containsOnlyKeys(Run.values());
    contests.forEach((run, ofRun) -> assertThat(run.contests()).containsAll(ofRun));
    assertThat(Contests.loops()).isEqualTo(contests.get(Run.LOOPS));
    for (Run run : Run.values()) {
      assertThat(run.contests()).doesNotHaveDuplicates();
    }
    assertThat(Target.all()).extracting(Target::toString).doesNotHaveDuplicates();
  }

  private static Run run(Target target) {
    boolean isOfVariants =
        Stream.of(KernelKind.values())
            .filter(KernelKind::isMachineCode)
            .anyMatch(kind -> target.system().endsWith(", " + kind.title()));
    return isOfVariants
        ? Run.VARIANTS
        : target.system().equals(Start.NO_FLAGS.system()) ? Run.LOOPS : Run.PEERS;
  }

  @Test
  void everyContestIsInATable() {
    assertThat(Contests.all())
        .allMatch(c -> Contests.groups().stream().anyMatch(group -> group.contests().test(c)));
  }

  private static List<String> missed(Figure... figures) {
    return new TargetTable(results(figures)).missed();
  }

  private static int judged(Figure... figures) {
    return new TargetTable(results(figures)).judged();
  }

  private static PeerResults results(Figure... figures) {
    return PeerTablesTest.results(List.of(figures), List.of(), List.of());
  }

  private static Figure figure(Contest contest, boolean polluted, Entry... entries) {
    return new Figure(contest, 1, polluted, List.of(entries));
  }

  static Entry time(String system, double micros) {
    double nanos = micros * 1000;
    return new Entry(system, 0, 1e-4, null, List.of(nanos * 3, nanos, nanos / 2));
  }
}
