package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Run;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.measure.MarkedFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptFiguresTest {
  private static final Path CHECKOUT = Path.of("../..");
  private static final String BATCH = "RMSNorm float32 128 x 4096";
  private static final Pattern MARKED = Pattern.compile("[\\d.,]+<!-- figure [^>]+-->");

  /** A multiple that somebody measured, or how many targets are met. */
  private static final Pattern MEASURED =
      Pattern.compile("\\d+\\.\\d+ (?:times|of (?:a|the) (?:copy|time))\\b|\\d+ targets");

  @TempDir Path folder;

  private KeptFigures figures;

  @BeforeEach
  void results() throws IOException {
    keep("2026-01-30-a", 9);
    keep("2026-01-31-a", 2);
    Contest contest = Contest.forward(Kernel.LAYER_NORM, 128, 4096);
    PeerResults peers =
        new PeerResults(
            "2026-01-31",
            null,
            TableTest.results(256).machine(),
            List.of(),
            List.of(
                new Figure(contest, 1, true, List.of(entry(Systems.OWN, 3), entry("x", 2))),
                new Figure(contest, 2, true, List.of(entry(Systems.OWN, 5), entry("x", 2))),
                new Figure(contest, 1, false, List.of(entry(Systems.OWN, 7), entry("x", 2)))),
            List.of(),
            List.of());
    peers.write(folder.resolve("2026-01-31-a-peers.json"));
    figures = new KeptFigures(folder);
  }

  private void keep(String name, double ratio) throws IOException {
    Results results =
        TableTest.results(256, TableTest.alone(BATCH, ratio), TableTest.polluted(BATCH, 2.5));
    Results.write(
        folder.resolve(name + ".json"),
        new Results(
            results.date(),
            results.commit(),
            results.machine(),
            results.figures(),
            List.of(),
            List.of(new Results.ColdStart("plain Java", List.of(3e6, 1e6, 2e6)))));
  }

  private static Entry entry(String system, double nanos) {
    return new Entry(system, 0, 1, null, List.of(nanos, nanos * 1.5, nanos));
  }

  @Test
  void theNewestFileCounts() throws IOException {
    assertThat(figures.figure("a", BATCH + "; alone")).hasValue(2);
    assertThat(figures.figure("a", BATCH + "; polluted")).hasValue(2.5);
  }

  @Test
  void systemsOfAContestAreDivided() throws IOException {
    String contest = "LayerNorm float32 128 x 4096; ";
    assertThat(figures.figure("a-peers", contest + "one thread; rmsnorm4j / x")).hasValue(1.5);
    assertThat(figures.figure("a-peers", contest + "2 threads; x / rmsnorm4j")).hasValue(0.4);
    assertThat(figures.figure("a-peers", contest + "one thread; x; shortest")).hasValue(2e-6);
    assertThat(figures.figure("a-peers", contest + "one thread; x; longest")).hasValue(3e-6);
    for (String rule : List.of("one thread; y; shortest", "one thread; x; median", "one thread")) {
      assertThatThrownBy(() -> figures.figure("a-peers", contest + rule))
          .hasMessage("the results have no such figure");
    }
  }

  @Test
  void theLoopIsAmongThem() throws IOException {
    Contest contest = Contest.forward(Kernel.RMS_NORM, 1, 4096);
    Figure figure =
        new Figure(
            contest,
            1,
            true,
            List.of(entry(Start.NO_FLAGS.system(), 2), entry(Systems.JAVA_LOOP, 1)));
    PeerResults results =
        new PeerResults(
            "2026-01-31",
            null,
            TableTest.results(256).machine(),
            List.of(),
            List.of(figure),
            List.of(),
            List.of());
    results.write(folder.resolve(Run.LOOPS.fileName(results)));
    String ratio = "; one thread; plain Java loop / rmsnorm4j, without flags";
    assertThat(figures.figure("a-loops", contest + ratio)).hasValue(0.5);
    assertThat(figures.figure("a-loops", "targets")).hasValue(1);
    assertThat(figures.figure("a-loops", "targets met")).hasValue(0);
  }

  @Test
  void targetsAndColdStartsAreThere() throws IOException {
    // Two targets at 256 bits: a ratio of 2.3, and 1.15 for polluted by alone. Both are missed.
    assertThat(figures.figure("a", "targets")).hasValue(2);
    assertThat(figures.figure("a", "targets met")).hasValue(0);
    assertThat(figures.figure("a", "cold start; plain Java")).hasValue(2);
  }

  @Test
  void whatIsNotThereIsRefused() {
    for (String rule :
        List.of(BATCH, BATCH + "; warm", "no row; alone", "targets mist", "cold start; x")) {
      assertThatThrownBy(() -> figures.figure("a", rule))
          .as(rule)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the results have no such figure");
    }
    assertThatThrownBy(() -> figures.figure("b", BATCH + "; alone"))
        .hasMessage("there are no results of b");
  }

  @Test
  void trainingsAreNotOfThisSource() throws IOException {
    assertThat(figures.figure("training/norms", "anything")).isEqualTo(OptionalDouble.empty());
  }

  @Test
  void everyMarkedFigureComesFromTheResults() throws IOException {
    PerformancePage page = new PerformancePage(CHECKOUT);
    for (Path marked : MarkedFigures.pages(CHECKOUT)) {
      assertThat(figures(Files.readString(marked)))
          .as("%s; SpeedTable --page makes it again", marked)
          .containsExactlyElementsOf(figures(page.withFigures(marked)));
    }
  }

  private static List<String> figures(String page) {
    return MARKED.matcher(page).results().map(MatchResult::group).toList();
  }

  /** A multiple names the results that it comes from. */
  @Test
  void multiplesAreMarked() throws IOException {
    for (String name : List.of("README.md", "docs/claims.md", "docs/background/fusion.md")) {
      String unmarked = MARKED.matcher(Files.readString(CHECKOUT.resolve(name))).replaceAll("#");
      assertThat(MEASURED.matcher(unmarked).results().map(MatchResult::group))
          .as(name + " has figures without a mark")
          .isEmpty();
    }
  }
}
