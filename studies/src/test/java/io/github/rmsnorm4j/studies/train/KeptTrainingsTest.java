package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptTrainingsTest {
  @TempDir private Path docs;

  private KeptTrainings figures;

  @BeforeEach
  void results() throws IOException {
    Results results =
        SyntheticResults.learning(
            SyntheticResults.usual(
                run -> SyntheticResults.isRms(run) ? 0.5 + run.seed() : run.seed(),
                run -> 0.75,
                run -> 5),
            run -> SyntheticResults.isRms(run) ? 620 : 600);
    Files.createDirectory(docs.resolve("training"));
    Files.writeString(docs.resolve("training/usual.json"), results.json());
    figures = new KeptTrainings(docs);
  }

  private double figure(String rule) throws IOException {
    return figures.figure("training/usual", rule).orElseThrow();
  }

  @Test
  void differencesAndRowsAreRead() throws IOException {
    assertThat(figure("RMSNorm - LayerNorm; loss; mean")).isEqualTo(0.5);
    assertThat(figure("RMSNorm - LayerNorm; loss; low")).isEqualTo(0.5);
    assertThat(figure("RMSNorm - LayerNorm; steps; high")).isEqualTo(20);
    assertThat(figure("RMSNorm; loss")).isEqualTo(2.5);
    assertThat(figure("RMSNorm; accuracy")).isEqualTo(75);
    assertThat(figure("LayerNorm; share of norms")).isCloseTo(10, within(1e-12)); // three times 0.1
    assertThat(figure("RMSNorm - LayerNorm; milliseconds; mean")).isEqualTo(0);
    assertThat(figure("LayerNorm; milliseconds")).isEqualTo(5);
    assertThat(figure("LayerNorm; rho")).isEqualTo(20);
    assertThat(figure("LayerNorm; gradient; highest")).isEqualTo(1);
    assertThat(figure("LayerNorm; gap")).isCloseTo(45.95, within(0.005)); // 2 - 2 sqrt(0.8)
  }

  /** With differences of -1, 2 and 0.5, and steps of 1, 2 and 3 milliseconds. */
  @Test
  void whatAnIntervalHidesIsRead() throws IOException {
    double[] losses = {-1, 2, 0.5};
    Results results =
        SyntheticResults.usual(
            run -> SyntheticResults.isRms(run) ? losses[(int) run.seed() - 1] : 0,
            run -> 0.75,
            run -> run.seed());
    Files.writeString(docs.resolve("training/norms.json"), results.json());
    assertThat(ofNorms("RMSNorm - LayerNorm; loss; median")).isEqualTo(0.5);
    assertThat(ofNorms("RMSNorm - LayerNorm; loss; largest")).isEqualTo(2);
    assertThat(ofNorms("RMSNorm - LayerNorm; loss; second")).isEqualTo(-1);
    assertThat(ofNorms("RMSNorm; milliseconds; lowest")).isEqualTo(1);
    assertThat(ofNorms("RMSNorm; milliseconds; highest")).isEqualTo(3);
  }

  private double ofNorms(String rule) throws IOException {
    return figures.figure("training/norms", rule).orElseThrow();
  }

  @Test
  void whatIsNotThereIsRefused() {
    for (String rule :
        List.of(
            "RMSNorm",
            "RMSNorm; size",
            "LayerNorm - RMSNorm; loss; mean",
            "RMSNorm - LayerNorm; steps; median",
            "RMSNorm; milliseconds; median",
            "RMSNorm; gradient")) {
      assertThatThrownBy(() -> figure(rule))
          .as(rule)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the results have no such figure");
    }
  }

  @Test
  void measurementsAreNotOfThisSource() throws IOException {
    assertThat(figures.figure("amd-epyc", "anything")).isEqualTo(OptionalDouble.empty());
  }
}
