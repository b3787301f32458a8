package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MedianTablesTest {
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
