package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.benchmarks.peers.TargetTest.time;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerChartTest {
  private static final Entry OWN = time(Systems.OWN, 100);
  private static final Entry ALLOCATING = time(Systems.LIBTORCH_RMS_NORM, 800);
  private static final Entry OUT = time(Systems.FORMULA_OUT, 200);

  @Test
  void ofASystemsFormsTheFastestIsDrawn() {
    assertThat(chart(OWN, ALLOCATING, OUT)).isEqualTo(chart(OWN, OUT)).isNotEqualTo(chart(OWN));
    assertThat(chart(OWN, OUT, ALLOCATING)).isEqualTo(chart(OWN, OUT));
    assertThat(chart(OWN, ALLOCATING)).isNotEqualTo(chart(OWN, OUT));
  }

  private static String chart(Entry... entries) {
    Figure figure =
        new Figure(Contest.forward(Kernel.RMS_NORM, 1, 4096), 1, true, List.of(entries));
    PeerResults results = PeerTablesTest.results(List.of(figure), List.of(), List.of());
    return PeerChart.of(results, null, PeerChart.Theme.LIGHT);
  }
}
