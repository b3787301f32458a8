package io.github.rmsnorm4j.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.DecodeResults;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Call;
import io.github.rmsnorm4j.benchmarks.DecodeResults.Start;
import io.github.rmsnorm4j.benchmarks.DecodeTable.Column;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptResultsTest {
  private static final PeerResults PEERS =
      PeerTablesTest.results(
          List.of(
              new Figure(
                  Contest.forward(Kernel.RMS_NORM, 1, 4096),
                  1,
                  true,
                  List.of(
                      TargetTest.time(Systems.OWN, 100), TargetTest.time(Systems.ONEDNN, 200)))),
          List.of(),
          List.of());

  private static DecodeResults decode(String date) {
    List<Start> starts =
        List.of(start("plain loop", 4), start("without flags", 3), start("native access", 2));
    return new DecodeResults(
        date, "abc", PEERS.machine(), List.of(new Call("RMSNorm 2048", starts)));
  }

  private static Start start(String title, double time) {
    Map<Column, Double> columns = new EnumMap<>(Column.class);
    for (Column column : Column.values()) {
      columns.put(column, time);
    }
    return new Start(title, List.of(columns));
  }

  /** The JSON files of processors in docs/benchmarks. */
  static List<Path> kept() throws IOException {
    Path folder = Path.of("../..", "docs", "benchmarks").toAbsolutePath().normalize();
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(file -> file.toString().endsWith(".json"))
          .filter(file -> !file.getFileName().toString().startsWith("nvidia-"))
          .toList();
    }
  }

  @Test
  void keptTablesAndChartsAreThoseOfTheResults() throws IOException {
    assertThat(kept()).isNotEmpty();
    for (Path file : kept()) {
      KeptResults.read(file).made(file).forEach((made, text) -> assertThat(made).hasContent(text));
    }
  }

  /** The page of performance shows the table of each comparison with other libraries. */
  @Test
  void thePageHasTheTables() throws IOException {
    String page = Files.readString(Path.of("../..", "docs", "performance.md"));
    for (Path file : kept()) {
      KeptResults kept = KeptResults.read(file);
      if (kept.runs().containsKey(Run.PEERS)) {
        assertThat(page).contains(PeerChart.table(kept.runs().get(Run.PEERS), kept.decode()));
      }
    }
  }

  @Test
  void aFileHasTheNewestResultsOfEachKind(@TempDir Path checkout) throws IOException {
    Path file = KeptResults.keep(checkout, decode("2026-01-30"));
    assertThat(file.resolveSibling("a-b-light.svg")).doesNotExist();
    assertThat(KeptResults.keep(checkout, Run.PEERS, PEERS))
        .isEqualTo(file)
        .hasFileName("a-b.json");
    assertThat(KeptResults.keep(checkout, decode("2026-01-31"))).isEqualTo(file);

    KeptResults kept = KeptResults.read(file);
    assertThat(kept.runs()).containsExactly(Map.entry(Run.PEERS, PEERS));
    assertThat(kept.decode()).isEqualTo(decode("2026-01-31"));
    assertThat(file.resolveSibling("a-b.md"))
        .content()
        .startsWith("# Results of a-b\n\nRaw results: [a-b.json](a-b.json).\n\n")
        .contains("\n### The first tokens\n")
        .contains("| an engine's first 400 tokens |  |  |  | 2.00 |")
        .contains("| RMSNorm, 1 x 4096: a token | 2.00 |  |  |  |")
        .contains("Measured on 2026-01-31, commit abc.", "| plain loop, ms | 4.00 |")
        .contains("| native access | 2.00 | 0.50 |")
        .contains(PeerTables.of(PEERS).strip())
        .doesNotContain("2026-01-30");
    for (PeerChart.Theme theme : PeerChart.Theme.values()) {
      assertThat(file.resolveSibling("a-b" + theme.ending()))
          .hasContent(PeerChart.of(PEERS, decode("2026-01-31"), theme))
          .content()
          .contains("first 400 tokens");
    }
    assertThat(file.getParent())
        .isDirectoryContaining("glob:**.json")
        .isDirectoryNotContaining("glob:**.part");
  }
}
