package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TerminalTablesTest {
  @Test
  void fitsAnOrdinaryTerminalAndLeavesNothingOut() {
    Results results =
        new SyntheticResults()
            .millis(Variant.RMS_NAIVE, 900_000, 990_000, 999_000)
            .mebibytes(Variant.RMS_NAIVE, 6144)
            .mebibytes(Variant.LAYER_FUSED, 4096)
            .results();
    String text = String.join("\n", new TerminalTables(results).lines());
    assertThat(text.lines()).allMatch(line -> line.length() < 80);
    assertThat(text)
        .contains(
            "forward, float32, 128 x 1024 x 4096 (2.00 GiB a tensor)",
            "RMSNorm naive",
            "6.00 GiB",
            "4,096 of 4,096 wrong",
            "A note.");
    assertThat(text.lines().toList().getLast()).startsWith("Measured on ");
    String joined = text.replaceAll("\\s+", " ");
    Verdicts verdicts = new Verdicts(results);
    assertThat(verdicts.headline()).allMatch(joined::contains);
    assertThat(verdicts.layerNormFused()).allMatch(joined::contains);
  }
}
