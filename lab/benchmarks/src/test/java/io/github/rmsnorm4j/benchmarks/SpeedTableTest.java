package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpeedTableTest {
  @Test
  void aFreshJvmMeasuresARow() throws IOException {
    int bits = Backend.best().vectorBits();
    Row oneRow = Row.all(bits).stream().filter(r -> r.subject().rows() == 1).findFirst().get();

    List<Results.Figure> figures = MeasureRows.inFreshJvm(List.of(oneRow), bits, false, true);

    assertThat(figures).hasSize(1);
    assertThat(figures.getFirst().row()).isEqualTo("RMSNorm float32 1 x 4096");
    Times times = figures.getFirst().times();
    assertThat(times.subject()).hasSize(Effort.QUICK.rounds()).allMatch(nanos -> nanos > 0);
    assertThat(times.baseline()).hasSize(Effort.QUICK.rounds()).allMatch(nanos -> nanos > 0);
  }

  @Test
  void aFreshJvmThatFailsSaysWhy() {
    assertThatThrownBy(() -> ChildJvm.run(MeasureColdStart.class, List.of("nonsense")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("MeasureColdStart ended with status 1")
        .hasMessageContaining("nonsense");
  }

  @Test
  void titlesOfRowsDiffer() {
    for (int bits : new int[] {128, 256, 512}) {
      assertThat(Row.all(bits)).extracting(Row::title).doesNotHaveDuplicates();
    }
  }

  @Test
  void wrongUseIsRefused() {
    assertThatThrownBy(() -> new SpeedTable("--fast")).hasMessageStartingWith("unknown: --fast");
    assertThatThrownBy(() -> new SpeedTable("--only"))
        .hasMessageStartingWith("--only takes a value");
    assertThatThrownBy(() -> new SpeedTable("--bits", "64"))
        .hasMessage("--bits is 64, it may be 128, 256 or 512");
    for (String part : List.of("--quick", "--alone", "--polluted")) {
      assertThatThrownBy(() -> new SpeedTable("--write", part))
          .hasMessage("--write takes a whole run: only --bits goes with it");
    }
  }
}
