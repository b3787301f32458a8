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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerformancePageTest {
  @TempDir Path checkout;

  @Test
  void everyFigureOnThePageComesFromTheFilesOfResults() throws IOException {
    PerformancePage page = new PerformancePage(Path.of("../.."));
    assertThat(page.text())
        .as("docs/performance.md; SpeedTable --page makes it again")
        .isEqualTo(page.rendered());
  }

  @Test
  void everyFileOfResultsHasItsTables() throws IOException {
    Map<Path, String> tables = new PerformancePage(Path.of("../..")).tables();
    assertThat(tables).hasSizeGreaterThan(5);
    for (Map.Entry<Path, String> page : tables.entrySet()) {
      assertThat(page.getKey()).as("SpeedTable --page makes it again").hasContent(page.getValue());
    }
  }

  @Test
  void theChartsAreThoseOfTheResults() throws IOException {
    Map<Path, String> charts = new PerformancePage(Path.of("../..")).charts();
    assertThat(charts).as("README's, two machines, two numbers of threads").hasSize(2 * (1 + 4));
    for (Map.Entry<Path, String> chart : charts.entrySet()) {
      assertThat(chart.getKey()).hasContent(chart.getValue());
    }
  }

  @Test
  void resultsAreKeptAndThePageFollows() throws IOException {
    write(page("old\n", "old\n", "", ""));
    Results results = TableTest.results(256, TableTest.alone("RMSNorm float32 128 x 4096", 2));
    PerformancePage page = new PerformancePage(checkout);
    Path others = Files.createDirectories(checkout.resolve("docs/benchmarks"));
    Files.writeString(others.resolve("2026-01-31-a-spark.json"), "for another program");
    Files.writeString(others.resolve("2026-01-31-a-gpu-cuda.json"), "for docs/gpu.md");

    Path file = page.add(results);

    assertThat(file).hasFileName("2026-01-31-a.json");
    assertThat(Results.read(file, Results.class)).isEqualTo(results);
    assertThat(page.text())
        .isEqualTo(page("\n" + line(Table.of(results), "a") + "\n", "\n", "\n", "\n"))
        .isEqualTo(page.rendered());
    assertThat(file.resolveSibling("2026-01-31-a.md"))
        .content()
        .startsWith(
            "# A (family 1), 256-bit vectors\n\nMeasured on 2026-01-31, commit 0123456789ab.")
        .contains(Table.of(results).substring("### ".length()))
        .endsWith(
            "Every round: [2026-01-31-a.json](2026-01-31-a.json). [README.md](README.md) explains the tables.\n");
  }

  @Test
  void eachKindOfResultsHasAPlaceOfItsOwn() throws IOException {
    write(page("", "", "", ""));
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

    String picture =
        """
        <picture><source media="(prefers-color-scheme: dark)" \
        srcset="benchmarks/2026-01-31-a-peers-1-dark.svg"><img alt="Times of other libraries \
        and of a plain Java loop as multiples of rmsnorm4j's: A, one thread" \
        src="benchmarks/2026-01-31-a-peers-1-light.svg"></picture>
        """;
    assertThat(page.text())
        .isEqualTo(
            page(
                "\n" + line(Table.of(own), "a") + "\n",
                "\n" + line(PeerTables.of(peers), "a-peers") + "\n" + picture + "\n",
                "\n" + line(LoopTable.of(loops), "a-loops") + "\n",
                "\n" + line(VariantTable.of(variants), "a-variants") + "\n"));
  }

  /** A page with these lines, each with its line break, between the marks of the kinds. */
  private static String page(String own, String peers, String loops, String variants) {
    return """
    before
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
    after
    """
        .formatted(own, peers, loops, variants);
  }

  private static String line(String tables, String name) {
    Matcher targets = Pattern.compile("Of [^.]* targets[^.]*\\.").matcher(tables);
    return "* [%s](benchmarks/2026-01-31-%s.md), 2026-01-31. %s\n"
        .formatted(
            tables.lines().findFirst().orElseThrow().substring("### ".length()),
            name,
            targets.find() ? targets.group() : "");
  }

  private static Figure figure(Contest contest, String... systems) {
    return new Figure(
        contest,
        1,
        true,
        Stream.of(systems).map(system -> new Entry(system, 0, 1, null, List.of(9e3))).toList());
  }

  private static PeerResults results(Results like, List<String> versions, List<Figure> figures) {
    return new PeerResults(
        like.date(), null, like.machine(), versions, figures, List.of(), List.of());
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
