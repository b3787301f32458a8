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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * docs/performance.md, the tables in docs/benchmarks and README's charts, whose figures are made
 * from the files in docs/benchmarks and nothing else.
 */
public final class PerformancePage {
  private static final String OWN = "<!-- begin SpeedTable -->\n";
  private static final String END = "<!-- end -->";

  /** The module spark makes its own part of the page, and those of GPUs are in docs/gpu.md. */
  private static final List<String> OTHER_ENDINGS = List.of("-spark.json", "-cuda.json");

  private static final Pattern HEADING = Pattern.compile("### (.*)\n\n");
  private static final Pattern DATE = Pattern.compile("Measured on ([-0-9]+),");
  private static final Pattern TARGETS = Pattern.compile("Of (the )?\\d+ targets[^.]*\\.");

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
    for (Map<Path, String> files : List.of(tables(), charts())) {
      for (Map.Entry<Path, String> file : files.entrySet()) {
        Files.writeString(file.getKey(), file.getValue());
      }
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
   * The page as it must be: its own text, and between the markers a line for each file of a kind,
   * newest first, which leads to the tables of the file.
   */
  String rendered() throws IOException {
    String rendered = replaced(text(), OWN, lines(PerformancePage::norms));
    for (Run run : Run.values()) {
      rendered = replaced(rendered, run.beginning(), lines(file -> tables(run, file)));
    }
    return rendered;
  }

  private static String norms(Path file) throws IOException {
    return Run.of(file).isPresent() ? "" : Table.of(Results.read(file, Results.class));
  }

  private static String tables(Run run, Path file) throws IOException {
    return Run.of(file).filter(run::equals).isPresent() ? run.tables(PeerResults.read(file)) : "";
  }

  /** The pages of tables beside the files of results, and what they must hold. */
  Map<Path, String> tables() throws IOException {
    Map<Path, String> pages = new LinkedHashMap<>();
    for (Path file : files()) {
      String tables = norms(file);
      for (Run run : Run.values()) {
        tables += tables(run, file);
      }
      Matcher heading = HEADING.matcher(tables);
      pages.put(
          file.resolveSibling(pageOf(file)),
          heading.replaceFirst("# $1\n\n")
              + "Every round: [%1$s](%1$s). [README.md](README.md) explains the tables.\n"
                  .formatted(file.getFileName()));
    }
    return pages;
  }

  private static String pageOf(Path file) {
    return file.getFileName().toString().replace(".json", ".md");
  }

  /**
   * The files of the charts, and what they must hold: README's, which is that of one thread of the
   * newest comparison with other libraries, and one for each comparison and number of threads.
   */
  Map<Path, String> charts() throws IOException {
    Map<Path, String> charts = new LinkedHashMap<>();
    for (Path file : files()) {
      if (Run.of(file).filter(Run.PEERS::equals).isPresent()) {
        PeerResults results = PeerResults.read(file);
        for (PeerChart.Theme theme : PeerChart.Theme.values()) {
          charts.putIfAbsent(
              page.resolveSibling("peers" + theme.ending()), PeerChart.of(results, 1, theme));
          for (int threads : PeerChart.threads(results)) {
            charts.put(
                file.resolveSibling(chart(file, threads) + theme.ending()),
                PeerChart.of(results, threads, theme));
          }
        }
      }
    }
    return charts;
  }

  private static String chart(Path file, int threads) {
    return file.getFileName().toString().replace(".json", "-" + threads);
  }

  /** The charts of a comparison, in a line. */
  private static String pictures(Path file) throws IOException {
    StringBuilder all = new StringBuilder("\n");
    PeerResults results = PeerResults.read(file);
    for (int threads : PeerChart.threads(results)) {
      String source = "benchmarks/" + chart(file, threads);
      all.append("<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"");
      all.append(source).append(PeerChart.Theme.DARK.ending()).append("\"><img alt=\"");
      all.append(PeerChart.title(results, threads)).append("\" src=\"");
      all.append(source).append(PeerChart.Theme.LIGHT.ending()).append("\"></picture>");
    }
    return all.append("\n\n").toString();
  }

  private String replaced(String text, String begin, String tables) throws IOException {
    int from = text.indexOf(begin);
    int end = text.indexOf(END, from);
    if (from < 0 || end < 0) {
      throw new IOException(page + " lacks the lines " + begin.strip() + " and " + END);
    }
    return text.substring(0, from + begin.length()) + tables + text.substring(end);
  }

  /** A line for each file that has tables of a kind. */
  private String lines(Tables kind) throws IOException {
    StringBuilder all = new StringBuilder();
    for (Path file : files()) {
      String tables = kind.of(file);
      if (!tables.isEmpty()) {
        all.append("* [").append(first(HEADING, tables, 1));
        all.append("](benchmarks/").append(pageOf(file)).append("), ");
        all.append(first(DATE, tables, 1)).append(". ");
        all.append(first(TARGETS, tables, 0)).append("\n");
        if (Run.of(file).filter(Run.PEERS::equals).isPresent()) {
          all.append(pictures(file));
        }
      }
    }
    return all.isEmpty() ? "\n" : "\n" + all.toString().stripTrailing() + "\n\n";
  }

  private static String first(Pattern pattern, String tables, int group) {
    Matcher found = pattern.matcher(tables);
    return found.find() ? found.group(group) : "";
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
