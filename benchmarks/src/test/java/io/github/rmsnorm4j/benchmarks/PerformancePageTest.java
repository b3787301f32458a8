package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.LoopTable;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.PeerTables;
import io.github.rmsnorm4j.benchmarks.peers.Run;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.benchmarks.peers.VariantTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
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
        <!-- begin LoopTable -->
        <!-- end -->
        <!-- begin VariantTable -->
        <!-- end -->
        """);
    Results results = TableTest.results(256, TableTest.alone("RMSNorm float32 128 x 4096", 2));
    PerformancePage page = new PerformancePage(checkout);
    Path others = Files.createDirectories(checkout.resolve("docs/benchmarks"));
    Files.writeString(others.resolve("2026-01-31-a-spark.json"), "for another program");
    Files.writeString(others.resolve("2026-01-31-a-gpu-cuda.json"), "for docs/gpu.md");

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
            <!-- begin LoopTable -->

            <!-- end -->
            <!-- begin VariantTable -->

            <!-- end -->
            """)
        .doesNotContain("old")
        .isEqualTo(page.rendered());
  }

  @Test
  void eachKindOfResultsHasAPlaceOfItsOwn() throws IOException {
    write(
        """
        <!-- begin SpeedTable -->
        <!-- end -->
        between
        <!-- begin PeerTable -->
        <!-- end -->
        flags
        <!-- begin LoopTable -->
        <!-- end -->
        variants
        <!-- begin VariantTable -->
        <!-- end -->
        """);
    Results own = TableTest.results(256, TableTest.alone("RMSNorm float32 128 x 4096", 2));
    Contest contest = Contest.forward(Kernel.RMS_NORM, 1, 4096);
    Figure besidePeer = figure(contest, Systems.OWN, Systems.ONEDNN);
    Figure besideLoop = figure(contest, Start.NO_FLAGS.system(), Systems.JAVA_LOOP);
    Figure ofVariants =
        figure(
            contest,
            Variant.L2.system(KernelKind.AVX2),
            Variant.WITHOUT_GAIN.system(KernelKind.AVX2));
    PeerResults peers = results(own, List.of("oneDNN 3"), List.of(besidePeer));
    PeerResults loops = results(own, List.of(), List.of(besideLoop));
    PeerResults variants = results(own, List.of("ONNX Runtime 1"), List.of(ofVariants));
    PerformancePage page = new PerformancePage(checkout);

    page.add(own);
    assertThat(page.add(Run.PEERS, peers)).hasFileName("2026-01-31-a-peers.json");
    assertThat(page.add(Run.LOOPS, loops)).hasFileName("2026-01-31-a-loops.json");
    assertThat(page.add(Run.VARIANTS, variants)).hasFileName("2026-01-31-a-variants.json");

    assertThat(page.text())
        .isEqualTo(
            """
            <!-- begin SpeedTable -->

            %s<!-- end -->
            between
            <!-- begin PeerTable -->

            %s<!-- end -->
            flags
            <!-- begin LoopTable -->

            %s<!-- end -->
            variants
            <!-- begin VariantTable -->

            %s<!-- end -->
            """
                .formatted(
                    section(Table.of(own), "a"),
                    section(PeerTables.of(peers), "a-peers"),
                    section(LoopTable.of(loops), "a-loops"),
                    section(VariantTable.of(variants), "a-variants")));
  }

  private static String section(String tables, String name) {
    return tables
        + "Every round: [2026-01-31-%1$s.json](benchmarks/2026-01-31-%1$s.json).\n\n"
            .formatted(name);
  }

  private static Figure figure(Contest contest, String... systems) {
    return new Figure(
        contest,
        1,
        true,
        Stream.of(systems).map(system -> new Entry(system, 0, 1, null, List.of(9e3))).toList());
  }

  private static PeerResults results(Results like, List<String> versions, List<Figure> figures) {
    return new PeerResults(like.date(), like.machine(), versions, figures, List.of(), List.of());
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
