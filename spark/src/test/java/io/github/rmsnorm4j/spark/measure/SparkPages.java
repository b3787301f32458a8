package io.github.rmsnorm4j.spark.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The tables of docs/spark.md and docs/performance.md and the plot between them, which are made
 * from the files in docs/benchmarks and nothing else.
 */
final class SparkPages {
  private static final String BEGIN = "<!-- begin SparkTable -->\n";
  private static final String END = "<!-- end -->";
  private static final String ENDING = "-spark.json";

  private final Path docs;

  SparkPages(Path checkout) throws IOException {
    docs = checkout.resolve("docs");
    if (!Files.isRegularFile(performance())) {
      throw new IOException(performance() + " is not there: start in the folder spark");
    }
  }

  Path performance() {
    return docs.resolve("performance.md");
  }

  Path guide() {
    return docs.resolve("spark.md");
  }

  Path plot() {
    return docs.resolve("spark-growth.svg");
  }

  /** Keeps results as a file of their own and makes the pages again. Returns the file. */
  Path add(SparkResults results) throws IOException {
    Path file =
        docs.resolve("benchmarks")
            .resolve(results.date() + "-" + results.machine().slug() + ENDING);
    Files.createDirectories(file.getParent());
    results.write(file);
    refresh();
    return file;
  }

  void refresh() throws IOException {
    Files.writeString(plot(), renderedPlot());
    for (Path page : List.of(guide(), performance())) {
      Files.writeString(page, rendered(page));
    }
  }

  /** That of the newest results. */
  String renderedPlot() throws IOException {
    return GrowthPlot.of(SparkResults.read(files().getFirst()).growth());
  }

  /** A page as it must be: its own text, and between the markers a section per file. */
  String rendered(Path page) throws IOException {
    String text = Files.readString(page);
    int from = text.indexOf(BEGIN);
    int end = text.indexOf(END, from);
    if (from < 0 || end < 0) {
      throw new IOException(page + " lacks the lines " + BEGIN.strip() + " and " + END);
    }
    StringBuilder tables = new StringBuilder("\n");
    for (Path file : files()) {
      tables.append(SparkTables.of(SparkResults.read(file)));
      tables.append("Every round: [%1$s](benchmarks/%1$s).\n\n".formatted(file.getFileName()));
    }
    return text.substring(0, from + BEGIN.length()) + tables + text.substring(end);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(docs.resolve("benchmarks"))) {
      return files
          .filter(file -> file.toString().endsWith(ENDING))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }
}
