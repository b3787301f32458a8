package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Start;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MeasureLoopTest {
  /** A start without its kernels refuses, so that no figure is that of another start. */
  @ParameterizedTest
  @EnumSource
  void aJvmOfEachStartMeasuresLibraryAndLoop(Start start) throws IOException {
    Contest token = Contest.forward(Kernel.RMS_NORM, 1, 64).with(ElementType.BFLOAT16);

    Figure figure = MeasureLoop.inFreshJvm(token, start, true);

    assertThat(figure.contest()).isEqualTo(token);
    assertThat(figure.threads()).isOne();
    assertThat(figure.polluted()).isTrue();
    assertThat(figure.entries())
        .extracting(Entry::system)
        .containsExactly(start.system(), Systems.JAVA_LOOP);
    assertThat(figure.entries())
        .filteredOn(entry -> entry.refused() == null)
        .contains(figure.entry(Systems.JAVA_LOOP).orElseThrow())
        .allMatch(entry -> !entry.wrong() && entry.nanos().size() == Effort.QUICK.rounds())
        .allMatch(entry -> entry.median() > 0);
    if (start == Start.NO_FLAGS) {
      assertThat(figure.entries().getFirst().refused()).isNull();
    }
  }
}
