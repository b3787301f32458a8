package io.github.rmsnorm4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * docs/performance.md, whose tables are made from the files in docs/benchmarks and nothing else.
 */
final class PerformancePage {
  private static final String BEGIN = "<!-- begin SpeedTable -->\n";
  private static final String END = "<!-- end -->";

  private final Path page;
  private final Path folder;

  /**
   * The page of a checkout.
   *
   * @throws IOException if there is none
   */
  PerformancePage(Path checkout) throws IOException {
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

  void refresh() throws IOException {
    Files.writeString(page, rendered());
  }

  String text() throws IOException {
    return Files.readString(page);
  }

  /**
   * The page as it must be: its own text, and between the markers a section per file, newest first.
   */
  String rendered() throws IOException {
    String text = text();
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END, begin);
    if (begin < 0 || end < 0) {
      throw new IOException(page + " lacks the lines " + BEGIN.strip() + " and " + END);
    }
    StringBuilder tables = new StringBuilder("\n");
    for (Path file : files()) {
      tables.append(Table.of(Results.read(file, Results.class)));
      tables.append("Every round: [%1$s](benchmarks/%1$s).\n\n".formatted(file.getFileName()));
    }
    return text.substring(0, begin + BEGIN.length()) + tables + text.substring(end);
  }

  private List<Path> files() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".json"))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }
}
