package io.github.rmsnorm4j.spark.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file to try {@code rmsnorm spark} on is what its program makes. */
class ExampleParquetTest {
  private static final Path FILE =
      Path.of("..", "examples", "embeddings.parquet").toAbsolutePath().normalize();

  private static SparkSession session;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    session =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
  }

  private static List<Row> rows(Path file) {
    return session.read().parquet(file.toString()).orderBy("id").collectAsList();
  }

  @Test
  void itIsWhatItsProgramMakes() throws IOException {
    Path made = folder.resolve("made.parquet");
    ExampleParquet.write(session, folder.resolve("parts"), made);
    List<Row> rows = rows(FILE);
    assertThat(rows).hasSize(ExampleParquet.ROWS).isEqualTo(rows(made));
    assertThat(session.read().parquet(FILE.toString()).schema().simpleString())
        .isEqualTo("struct<id:bigint,embedding:array<float>>");
    assertThat(Files.size(FILE)).isLessThan(100_000);
  }
}
