package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.measure.Machine;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final String BATCH = "RMSNorm float32 128 x 4096";

  static Times times(double subject, double baseline) {
    return new Times(List.of(subject, subject, 1e9), List.of(baseline, baseline, 1.0));
  }

  static Results.Figure alone(String row, double ratio) {
    return new Results.Figure(row, false, times(ratio * 60_000, 60_000));
  }

  static Results.Figure polluted(String row, double ratio) {
    return new Results.Figure(row, true, times(ratio * 60_000, 60_000));
  }

  static Results results(int bits, Results.Figure... figures) {
    Machine machine =
        new Machine("A (family 1)", 2, "Linux", "25", List.of("-Xmx1g"), "vectors", bits);
    return new Results(
        "2026-01-31", "0123456789ab", machine, List.of(figures), List.of(), List.of());
  }

  @Test
  void targetGoesByTheWidthOfTheVectors() {
    assertThat(Table.of(results(256, alone(BATCH, 2.3))))
        .contains("| " + BATCH + " | 138 | copy | 60.0 | 2.30 |  | at most 2.3 at 256 bits | met |")
        .contains("Of the 1 targets that are set for 256-bit vectors, 1 are met.\n");
    assertThat(Table.of(results(512, alone(BATCH, 2.3))))
        .contains("| at most 1.6 at 512 bits | **missed** |")
        .contains("1 targets that are set for 512-bit vectors, 0 are met. Missed: " + BATCH + ".");
  }

  @Test
  void verdictGoesByTheFigureAsShown() {
    assertThat(Table.of(results(512, alone(BATCH, 1.6049)))).contains("| 1.60 |", "| met |");
    assertThat(Table.of(results(512, alone(BATCH, 1.6051)))).contains("| 1.61 |", "| **missed** |");
  }

  @Test
  void targetOfAnotherWidthIsNoTargetHere() {
    assertThat(Table.of(results(256, alone(BATCH + ", in place", 1.3))))
        .contains("| 1.30 |  | at most 1.15 at 512 bits | not set for this width |")
        .contains("Of the 0 targets");
    assertThat(Table.of(results(256, alone(BATCH + ", in place", 1.1))))
        .contains("| at most 1.15 at 512 bits | met here too |");
  }

  @Test
  void medianOfTheJvmsCounts() {
    assertThat(Table.of(results(512, alone(BATCH, 1.7), alone(BATCH, 1.2), alone(BATCH, 1.5))))
        .contains(
            "| 90.0 | copy | 60.0 | 1.50 (1.20 to 1.70) |  | at most 1.6 at 512 bits | met |");
  }

  @Test
  void pollutedFigureCounts() {
    assertThat(Table.of(results(512, alone(BATCH, 1.6), polluted(BATCH, 1.7))))
        .contains("| 1.60 | 1.70 | at most 1.6 at 512 bits | **missed** mixed | 1.06 |")
        .contains("2 targets that are set for 512-bit vectors, 1 are met.");
    assertThat(Table.of(results(512, alone(BATCH, 1.0), polluted(BATCH, 1.2))))
        .contains("| met | **1.20** |")
        .contains("Missed: " + BATCH + " (mixed 1.20 times isolated).");
  }

  @Test
  void narrowTypesAreHeldAgainstFloat32() {
    assertThat(Table.of(results(128, alone("RMSNorm float16 128 x 4096", 1.5))))
        .contains("| 90.0 | " + BATCH + " | 60.0 | 1.50 |  | at most 1.6 | met |");
  }

  @Test
  void twoThreadsPayFromWhereTheyAlwaysDo() {
    assertThat(Table.of(withThreads(0.9, 1.1, 0.9, 0.6)))
        .contains("Two threads take less time than one from 4 MiB on.")
        .contains("| 1 MiB | 10.0 | 9.00 | 0.90 |\n| 2 MiB | 10.0 | 11.0 | 1.10 |");
    assertThat(Table.of(withThreads(0.5, 0.5, 0.5, 1.0)))
        .contains("Two threads never took less time than one.");
  }

  private static Results withThreads(double... ratios) {
    Results empty = results(512);
    List<Results.ThreadTimes> threads = new ArrayList<>();
    for (double ratio : ratios) {
      threads.add(new Results.ThreadTimes((1L << 20) << threads.size(), times(ratio * 1e4, 1e4)));
    }
    return new Results(
        empty.date(), empty.commit(), empty.machine(), List.of(), threads, List.of());
  }
}
