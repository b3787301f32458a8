package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.benchmarks.peers.PeerChart;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults;
import io.github.rmsnorm4j.benchmarks.peers.Run;
import io.github.rmsnorm4j.measure.MarkedFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * docs/performance.md and README's charts, whose figures are made from the files in docs/benchmarks
 * and nothing else.
 */
public final class PerformancePage {
  private static final String OWN = "<!-- begin SpeedTable -->\n";
  private static final String END = "<!-- end -->";

  /** The module spark makes its own part of the page, and those of GPUs are in docs/gpu.md. */
  private static final List<String> OTHER_ENDINGS = List.of("-spark.json", "-cuda.json");

  private final Path checkout;
  private final Path page;
  private final Path folder;

  /**
   * The page of a checkout.
   *
   * @param checkout its top folder
   * @throws IOException if there is none
   */
  public PerformancePage(Path checkout) throws IOException {
    this.checkout = checkout;
    page = checkout.resolve("docs/performance.md");
    folder = checkout.resolve("docs/benchmarks");
    if (!Files.isRegularFile(page)) {
      throw new IOException(page + " is not there: start in the top folder of a checkout");
    }
  }

  /** Keeps results as a file of their own and makes the tables again. Returns the file. */
  Path add(Results results) throws IOException {
    Files.createDirectories(folder);
    Path file = folder.resolve(results.date() + "-" + results.machine().slug() + ".json");
    Results.write(file, results);
    refresh();
    return file;
  }

  /**
   * Keeps results of {@code rmsnorm bench} and makes the page again.
   *
   * @param run what was measured
   * @param results of a whole run
   * @return the file
   * @throws IOException if a file cannot be read or written
   */
  public Path add(Run run, PeerResults results) throws IOException {
    Files.createDirectories(folder);
    Path file = folder.resolve(run.fileName(results));
    results.write(file);
    refresh();
    return file;
  }

  /** Makes the figures again that pages take from the results, and the tables. */
  void refresh() throws IOException {
    for (Path marked : MarkedFigures.pages(checkout)) {
      Files.writeString(marked, withFigures(marked));
    }
    Files.writeString(page, rendered());
    for (Map.Entry<Path, String> chart : charts().entrySet()) {
      Files.writeString(chart.getKey(), chart.getValue());
    }
  }

  String text() throws IOException {
    return Files.readString(page);
  }

  /** A page with the figures that its prose takes from the files of results. */
  String withFigures(Path marked) throws IOException {
    return MarkedFigures.with(Files.readString(marked), new KeptFigures(folder));
  }

  /**
   * The page as it must be: its own text, and between the markers a section per file, newest first.
   */
  String rendered() throws IOException {
    String rendered = replaced(text(), OWN, tables(PerformancePage::norms));
    for (Run run : Run.values()) {
      rendered = replaced(rendered, run.beginning(), tables(file -> tables(run, file)));
    }
    return rendered;
  }

  private static String norms(Path file) throws IOException {
    return Run.of(file).isPresent() ? "" : Table.of(Results.read(file, Results.class));
  }

  private static String tables(Run run, Path file) throws IOException {
    return Run.of(file).filter(run::equals).isPresent() ? run.tables(PeerResults.read(file)) : "";
  }

  /**
   * The files of the charts, and what they must hold: the newest comparison with other libraries.
   */
  Map<Path, String> charts() throws IOException {
    Map<Path, String> charts = new LinkedHashMap<>();
    for (Path file : files()) {
      if (charts.isEmpty() && Run.of(file).filter(Run.PEERS::equals).isPresent()) {
        for (PeerChart.Theme theme : PeerChart.Theme.values()) {
          Path chart = page.resolveSibling(theme.fileName());
          charts.put(chart, PeerChart.of(PeerResults.read(file), theme));
        }
      }
    }
    return charts;
  }

  private String replaced(String text, String begin, String tables) throws IOException {
    int from = text.indexOf(begin);
    int end = text.indexOf(END, from);
    if (from < 0 || end < 0) {
      throw new IOException(page + " lacks the lines " + begin.strip() + " and " + END);
    }
    return text.substring(0, from + begin.length()) + tables + text.substring(end);
  }

  /** Those of all files that have any of a kind. */
  private String tables(Tables kind) throws IOException {
    StringBuilder all = new StringBuilder("\n");
    for (Path file : files()) {
      String tables = kind.of(file);
      if (!tables.isEmpty()) {
        all.append(tables);
        all.append("Every round: [%1$s](benchmarks/%1$s).\n\n".formatted(file.getFileName()));
      }
    }
    return all.toString();
  }

  private List<Path> files() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".json"))
          .filter(file -> OTHER_ENDINGS.stream().noneMatch(file.toString()::endsWith))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }

  /** The tables of a kind that a file has; an empty text if it has none. */
  private interface Tables {
    String of(Path file) throws IOException;
  }
}
