package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerTables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerformancePageTest {
  @TempDir Path checkout;

  @Test
  void everyFigureOnThePageComesFromTheFilesOfResults() throws IOException {
    PerformancePage page = new PerformancePage(Path.of(".."));
    assertThat(page.text())
        .as("docs/performance.md; SpeedTable --page makes it again")
        .isEqualTo(page.rendered());
  }

  @Test
  void theChartsAreThoseOfTheNewestResults() throws IOException {
    Map<Path, String> charts = new PerformancePage(Path.of("..")).charts();
    assertThat(charts).hasSize(2);
    for (Map.Entry<Path, String> chart : charts.entrySet()) {
      assertThat(chart.getKey()).hasContent(chart.getValue());
    }
  }

  @Test
  void resultsAreKeptAndThePageFollows() throws IOException {
    write(
        """
        before
        <!-- begin SpeedTable -->
        old
        <!-- end -->
        between
        <!-- begin PeerTable -->
        old
        <!-- end -->
        after
        """);
    Results results = TableTest.results(256, TableTest.alone("RMSNorm float32 128 x 4096", 2));
    PerformancePage page = new PerformancePage(checkout);
    Path others = Files.createDirectories(checkout.resolve("docs/benchmarks"));
    Files.writeString(others.resolve("2026-01-31-a-spark.json"), "for another program");

    Path file = page.add(results);

    assertThat(file).hasFileName("2026-01-31-a.json");
    assertThat(Results.read(file, Results.class)).isEqualTo(results);
    assertThat(page.text())
        .startsWith("before\n<!-- begin SpeedTable -->\n\n" + Table.of(results))
        .endsWith(
            """
            [2026-01-31-a.json](benchmarks/2026-01-31-a.json).

            <!-- end -->
            between
            <!-- begin PeerTable -->

            <!-- end -->
            after
            """)
        .doesNotContain("old")
        .isEqualTo(page.rendered());
  }

  @Test
  void resultsBesideThePeersHaveAPlaceOfTheirOwn() throws IOException {
    write(
        """
        <!-- begin SpeedTable -->
        <!-- end -->
        between
        <!-- begin PeerTable -->
        <!-- end -->
        """);
    Results own = TableTest.results(256, TableTest.alone("RMSNorm float32 128 x 4096", 2));
    PeerResults results =
        new PeerResults(
            "2026-01-31", own.machine(), List.of("oneDNN 3"), List.of(), List.of(), List.of());
    PerformancePage page = new PerformancePage(checkout);

    page.add(own);
    assertThat(page.add(results)).hasFileName("2026-01-31-a-peers.json");

    assertThat(page.text())
        .startsWith("<!-- begin SpeedTable -->\n\n" + Table.of(own))
        .endsWith(
            "between\n<!-- begin PeerTable -->\n\n"
                + PeerTables.of(results)
                + "Every round: [2026-01-31-a-peers.json](benchmarks/2026-01-31-a-peers.json).\n\n"
                + "<!-- end -->\n");
  }

  @Test
  void pageWithoutItsMarkersIsLeftAlone() throws IOException {
    write("no markers\n");
    PerformancePage page = new PerformancePage(checkout);

    assertThatThrownBy(page::refresh)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("lacks the lines <!-- begin SpeedTable --> and <!-- end -->");
    assertThat(page.text()).isEqualTo("no markers\n");
  }

  private void write(String text) throws IOException {
    Path page = checkout.resolve("docs/performance.md");
    Files.createDirectories(page.getParent());
    Files.writeString(page, text);
  }
}
