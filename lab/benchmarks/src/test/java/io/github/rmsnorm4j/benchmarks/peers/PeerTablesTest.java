package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.benchmarks.peers.TargetTest.time;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Change;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Trap;
import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerTablesTest {
  private static final Contest BACKWARD = Contest.backward(Kernel.RMS_NORM, 128, 4096);

  @Test
  void timesStandBesideHowMuchOfThemThisLibraryTakes() {
    Figure figure =
        new Figure(
            BACKWARD,
            1,
            true,
            List.of(time(Systems.COPY, 50), time(Systems.OWN, 100), time(Systems.JAVA_LOOP, 400)));

    assertThat(tables(figure))
        .contains(
            """
            | RMSNorm backward, float32, one thread | 128 x 4096 |
            | --- | ---: |
            | memory copy | 50.0 µs (2.00) |
            | rmsnorm4j | 100 µs |
            | plain Java loop | 400 µs (0.25) |
            """);
  }

  @Test
  void aWrongAnswerIsMarkedAndARightOneIsNot() {
    for (double error : new double[] {2e-4, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThat(tables(besideOneDnn(error)))
          .contains("| oneDNN | 200 µs (0.50), **wrong answer** |");
    }
    assertThat(tables(besideOneDnn(1e-4))).contains("| oneDNN | 200 µs (0.50) |");
  }

  private static Figure besideOneDnn(double error) {
    Entry wrong = new Entry(Systems.ONEDNN, error, 1e-4, null, List.of(200_000.0));
    return new Figure(BACKWARD, 1, true, List.of(time(Systems.OWN, 100), wrong));
  }

  @Test
  void javaIsShownAloneAsWellAndARefusalInPlaceOfATime() {
    Entry refused = new Entry(Systems.ONEDNN, 0, 1e-4, "not here", List.of());
    Figure alone = new Figure(BACKWARD, 2, false, List.of(time(Systems.OWN, 90), refused));
    Figure polluted = new Figure(BACKWARD, 2, true, List.of(time(Systems.OWN, 100), refused));

    assertThat(tables(alone, polluted))
        .contains(
            """
            | RMSNorm backward, float32, 2 threads | 128 x 4096 |
            | --- | ---: |
            | rmsnorm4j | 100 µs |
            | rmsnorm4j, isolated | 90.0 µs |
            | oneDNN | refused |
            """)
        .doesNotContain("wrong answer", "target");
  }

  @Test
  void aTargetIsMissedMetOrHasNothingToCompareWith() {
    Contest prompt = Contest.forward(Kernel.RMS_NORM, 128, 4096);
    Figure figure =
        new Figure(
            prompt,
            1,
            true,
            List.of(
                time(Systems.OWN, 100),
                time(Systems.LIBTORCH_RMS_NORM, 250),
                time(Systems.JAVA_LOOP, 600)));
    assertThat(tables(figure))
        .contains(
            """
            Of 2 targets 1 are met.

            | target, mixed workload | limit | one thread |
            | --- | ---: | ---: |
            | RMSNorm float32 128 x 4096: rmsnorm4j / oneDNN | 1.05 | not there |
            | RMSNorm float32 128 x 4096: rmsnorm4j / libtorch rms_norm | 0.35 | **0.40** |
            """)
        .contains("| RMSNorm float32 128 x 4096: rmsnorm4j / plain Java loop | 0.2 | 0.17 |\n")
        .doesNotContain("8192 x 4096");
  }

  @Test
  void verdictsOnTrapsAreComputed() {
    assertThat(TrapTables.verdict(trap(1, 1.00005, 5e-5))).isEqualTo("right");
    assertThat(TrapTables.verdict(trap(1, 0, 1))).isEqualTo("**0**, exact 1");
    assertThat(TrapTables.verdict(trap(0.5, Double.NaN, Double.NaN)))
        .isEqualTo("**NaN**, exact 0.500000");
    assertThat(TrapTables.verdict(trap(Double.NaN, Double.NaN, 0))).isEqualTo("right");
    assertThat(TrapTables.verdict(change(0))).isEqualTo("same bits");
    assertThat(TrapTables.verdict(change(7))).isEqualTo("**7 of 100 differ**");
  }

  @Test
  void trapsHaveARowForEachInputAndAColumnForEachSystem() {
    PeerResults results = results(List.of(), List.of(trap(1, 0, 1)), List.of(change(0)));
    assertThat(PeerTables.of(results))
        .contains(
            """
            | RMSNorm, traps | oneDNN |
            | --- | --- |
            | a row | **0**, exact 1 |

            | RMSNorm, the same rows twice | oneDNN |
            | --- | --- |
            | one thread and two | same bits |
            """);
  }

  @Test
  void resultsSurviveTheirFile(@TempDir Path folder) throws IOException {
    PeerResults results =
        results(
            List.of(besideOneDnn(Double.NaN)),
            List.of(trap(1, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY)),
            List.of(change(7)));
    Path file = folder.resolve("results.json");
    results.write(file);
    assertThat(PeerResults.read(file)).isEqualTo(results);
  }

  private static Trap trap(double exact, double got, double error) {
    return new Trap(
        "a row",
        Contest.forward(Kernel.RMS_NORM, 1, 8),
        Systems.ONEDNN,
        exact,
        got,
        error,
        1e-4,
        null);
  }

  private static Change change(long differing) {
    return new Change("one thread and two", BACKWARD, Systems.ONEDNN, differing, 100);
  }

  private static String tables(Figure... figures) {
    return PeerTables.of(results(List.of(figures), List.of(), List.of()));
  }

  static PeerResults results(List<Figure> figures, List<Trap> traps, List<Change> changes) {
    Machine machine = new Machine("A (B)", 2, "Linux", "Java", List.of("-flag"), "vectors", 256);
    return new PeerResults(
        "2026-01-31", null, machine, List.of("oneDNN 3"), figures, traps, changes);
  }
}
