package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.measure.MachineLoad;
import org.junit.jupiter.api.Test;

class PeerTableTest {
  private static String notes(double load, String... options) {
    return PeerTable.notes(PeerOptions.of(options), new MachineLoad(load, 2));
  }

  @Test
  void figuresThatMeanLittleAreCalledThat() {
    assertThat(notes(0.1)).contains("Behind a time").doesNotContain("quick", "busy");
    assertThat(notes(0.1, "--quick")).contains("This was a quick run").doesNotContain("busy");
    assertThat(notes(2.5, "--quick"))
        .contains("This was a quick run", "its load was 2.5, with 2 processors");
    assertThat(notes(-1)).as("where the system has no such figure").doesNotContain("busy");
  }

  @Test
  void theFiguresOfTheLoopAreExplained() {
    assertThat(notes(0.1, "--loops"))
        .contains("each divided by the loop's")
        .doesNotContain("Behind a time");
    assertThat(notes(0.1)).contains("Behind a time").doesNotContain("loop");
  }

  @Test
  void theFiguresOfVariantsAreExplained() {
    assertThat(notes(0.1, "--variants"))
        .contains("the time of the first divided by that of the second")
        .doesNotContain("Behind a time", "loop");
  }

  @Test
  void trapsHaveNoTimes() {
    assertThat(notes(9, "--traps")).contains("(!) marks a wrong answer").doesNotContain("time");
  }
}
