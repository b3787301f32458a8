package io.github.rmsnorm4j.spark.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The tables and the plot of docs/spark.md, which are made from the files in docs/benchmarks and
 * nothing else.
 */
final class SparkPages {
  private static final String BEGIN = "<!-- begin SparkTable -->\n";
  private static final String END = "<!-- end -->";
  private static final String ENDING = "-spark.json";

  private final Path docs;

  SparkPages(Path checkout) throws IOException {
    docs = checkout.resolve("docs");
    if (!Files.isRegularFile(guide())) {
      throw new IOException(guide() + " is not there: start in the folder spark");
    }
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
    Files.writeString(guide(), rendered());
  }

  /** That of the newest results. */
  String renderedPlot() throws IOException {
    return GrowthPlot.of(SparkResults.read(files().getFirst()).growth());
  }

  /** The page as it must be: its own text, and between the markers a section per file. */
  String rendered() throws IOException {
    String text = Files.readString(guide());
    int from = text.indexOf(BEGIN);
    int end = text.indexOf(END, from);
    if (from < 0 || end < 0) {
      throw new IOException(guide() + " lacks the lines " + BEGIN.strip() + " and " + END);
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
