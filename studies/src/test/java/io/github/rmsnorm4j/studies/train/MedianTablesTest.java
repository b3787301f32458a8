package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MedianTablesTest {
  private static final Path DOCS = Path.of("..", "docs");

  /** What {@code rmsnorm train} prints of the kept results is what the page has. */
  @ParameterizedTest
  @EnumSource(names = {"NORMS", "DEPTH"})
  void thePageHasTheTablesOfTheKeptResults(Plan.Kind kind) throws IOException {
    Path kept =
        DOCS.resolve("training").resolve(kind.name().toLowerCase(java.util.Locale.ROOT) + ".json");
    assertThat(Files.readString(DOCS.resolve("compare-and-train.md")))
        .contains(
            String.join("\n", MedianTables.lines(Results.parse(Files.readString(kept)))) + "\n");
  }

  @Test
  void aSeedThatIsFarFromTheOthersMovesNoMedian() {
    Results results =
        SyntheticResults.learning(
            SyntheticResults.usual(run -> run.seed() == 1 ? 9 : 1, run -> 0.99, run -> 5),
            run -> 400);
    assertThat(MedianTables.lines(results))
        .startsWith(
            "| medians | loss | worst loss | learned at step | a step | norms' share |",
            "| --- | ---: | ---: | ---: | ---: | ---: |")
        .contains("| RMSNorm | 1.0000 | 9.0000 | 400 | 5.00 ms | 10.0 % |");
  }
}
