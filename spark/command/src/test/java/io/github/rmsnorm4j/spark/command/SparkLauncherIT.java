package io.github.rmsnorm4j.spark.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Launchers;
import io.github.rmsnorm4j.cli.testing.Shell.Result;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./rmsnorm spark} as a user starts it. */
class SparkLauncherIT {
  @TempDir private static Path folder;
  private static Launchers launchers;
  private static Path checkout;

  @BeforeAll
  static void copyTheCheckout() throws IOException {
    launchers = new Launchers(folder);
    checkout = launchers.copyOfCheckout("a checkout");
  }

  @AfterAll
  static void close() throws IOException {
    launchers.close();
  }

  /** Built where it is first asked for, from what Maven has fetched for its module already. */
  @Test
  void sparkNormalisesParquet() throws IOException, InterruptedException {
    Path in = folder.resolve("three rows.parquet");
    try (InputStream rows = SparkLauncherIT.class.getResourceAsStream("three-rows.parquet")) {
      Files.copy(rows, in);
    }
    Path out = folder.resolve("result.parquet");
    List<Object> words = new ArrayList<>(List.of(checkout.resolve("rmsnorm"), "spark", in));
    words.addAll(List.of("-o", out, "--column", "embedding", "--threads", "1"));

    Result first = launchers.shell().run(words.toArray());
    assertThat(first.err())
        .startsWith(
            "rmsnorm: building the command line with spark, once (this may take a minute)\n")
        .contains("rmsnorm spark: building the job and fetching Spark")
        .contains(out + ": 3 rows, rmsnorm, column embedding, on local[1], ")
        .doesNotContain("WARNING");
    assertThat(first.status()).isZero();
    assertThat(out.resolve("_SUCCESS")).exists();

    Result again = launchers.shell().run(words.toArray());
    assertThat(again.err())
        .isEqualTo("rmsnorm spark: " + out + ": exists already; --force replaces it\n");
    assertThat(again.status()).isEqualTo(2);
  }
}
