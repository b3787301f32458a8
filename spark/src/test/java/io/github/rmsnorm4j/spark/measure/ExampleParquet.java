package io.github.rmsnorm4j.spark.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * Makes {@code examples/embeddings.parquet}: a column {@code id} and a column {@code embedding} of
 * 64 made-up numbers, to try {@code rmsnorm spark} on.
 *
 * <p>Its argument is the file. Run it with the flags in {@code spark/java.options}.
 */
final class ExampleParquet {
  static final GeneratedRows CONTENT = new GeneratedRows(false, 64);
  static final int ROWS = 200;

  private ExampleParquet() {}

  public static void main(String[] args) throws IOException {
    SparkSession session =
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
    try {
      write(session, Files.createTempDirectory("embeddings").resolve("parts"), Path.of(args[0]));
    } finally {
      session.stop();
    }
  }

  /**
   * Writes it.
   *
   * @param folder is made, and gets what Spark makes: a folder with one file of rows in it
   * @param file gets a copy of that file
   */
  static void write(SparkSession session, Path folder, Path file) throws IOException {
    CONTENT.write(session, ROWS, 1, folder);
    try (Stream<Path> parts = Files.list(folder)) {
      List<Path> written =
          parts.filter(part -> part.getFileName().toString().matches("part-.*\\.parquet")).toList();
      Files.copy(written.getFirst(), file, StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
