package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeasureContestTest {
  @Test
  void aFreshJvmMeasuresAllSystems() throws IOException {
    Contest token = Contest.forward(Kernel.RMS_NORM, 1, 4096);

    List<Figure> figures = MeasureContest.inFreshJvm(token, List.of(1), true, true);

    assertThat(figures).hasSize(1);
    Figure figure = figures.getFirst();
    assertThat(figure.contest()).isEqualTo(token);
    assertThat(figure.polluted()).isTrue();
    assertThat(figure.entries())
        .extracting(Entry::system)
        .startsWith(Systems.COPY, Systems.OWN, Systems.IN_PLACE, Systems.ONEDNN)
        .hasSize(10);
    assertThat(figure.entries())
        .allMatch(entry -> entry.refused() == null && !entry.wrong())
        .allMatch(entry -> entry.nanos().size() == Effort.QUICK.rounds())
        .allMatch(entry -> entry.median() > 0);
  }
}
