package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.benchmarks.peers.TargetTest.time;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopTableTest {
  private static final Contest FLOAT32 = Contest.forward(Kernel.RMS_NORM, 1, 4096);
  private static final Contest BFLOAT16 = FLOAT32.with(ElementType.BFLOAT16);

  @Test
  void everyStartIsDividedByTheLoopOfItsOwnJvm() {
    String table =
        LoopTable.of(
            results(
                figure(FLOAT32, Start.NO_FLAGS, 90, 100),
                figure(FLOAT32, Start.NATIVE_ACCESS, 30, 200),
                figure(FLOAT32, Start.VECTOR_API, 80, 400),
                figure(BFLOAT16, Start.NO_FLAGS, 90, 100)));
    assertThat(table)
        .startsWith("### Plain loop: A (B), 256-bit vectors\n\nMeasured on 2026-01-31, ")
        .contains(
            """
             Of 2 targets 1 are met.

            | one thread, mixed workload | the loop | without flags | with native access | with the Vector API | at most |
            | --- | ---: | ---: | ---: | ---: | ---: |
            | RMSNorm float32 1 x 4096 | 100 µs | 0.90 | 0.15 | 0.20 | 0.9 |
            | RMSNorm bfloat16 1 x 4096 | 100 µs | **0.90** |  |  | 0.8 |
            """);
  }

  @Test
  void theJvmWithTheMiddleRatioCounts() {
    Figure slow = figure(FLOAT32, Start.NO_FLAGS, 300, 100);
    Figure fast = figure(FLOAT32, Start.NO_FLAGS, 40, 80);
    assertThat(LoopTable.of(results(slow, fast, fast)))
        .contains("| RMSNorm float32 1 x 4096 | 80.0 µs | 0.50 |");
  }

  @Test
  void kernelsThatAreNotThereLeaveACellEmpty() {
    Entry refused = new Entry(Start.NATIVE_ACCESS.system(), 0, 1, "plain Java", List.of());
    Figure figure = new Figure(FLOAT32, 1, true, List.of(refused, time(Systems.JAVA_LOOP, 100)));
    assertThat(LoopTable.of(results(figure))).contains("| RMSNorm float32 1 x 4096 |  |  |  |  |");
  }

  @Test
  void missedTargetsAreNamed() {
    PeerResults results = results(figure(FLOAT32, Start.NO_FLAGS, 95, 100));
    assertThat(LoopTable.of(results)).contains("**0.95**");
    assertThat(new TargetTable(results).missed())
        .containsExactly(
            "RMSNorm float32 1 x 4096: rmsnorm4j, without flags against plain Java loop at most"
                + " 0.9, one thread, is 0.95");
  }

  @Test
  void aStartHasItsOwnFlagsAlone() {
    assertThat(Start.NO_FLAGS.flags()).noneMatch(LoopTableTest::isOfAStart);
    assertThat(Start.NATIVE_ACCESS.flags())
        .filteredOn(LoopTableTest::isOfAStart)
        .containsExactly("--enable-native-access=ALL-UNNAMED");
    assertThat(Start.VECTOR_API.flags())
        .filteredOn(LoopTableTest::isOfAStart)
        .containsExactly("--add-modules=jdk.incubator.vector");
  }

  private static boolean isOfAStart(String flag) {
    return flag.contains("native-access") || flag.contains("add-modules");
  }

  static Figure figure(Contest contest, Start start, double own, double loop) {
    return new Figure(
        contest, 1, true, List.of(time(start.system(), own), time(Systems.JAVA_LOOP, loop)));
  }

  private static PeerResults results(Figure... figures) {
    return PeerTablesTest.results(List.of(figures), List.of(), List.of());
  }
}
