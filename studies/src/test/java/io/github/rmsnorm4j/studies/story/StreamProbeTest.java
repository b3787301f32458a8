package io.github.rmsnorm4j.studies.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.studies.story.Results.Depth;
import io.github.rmsnorm4j.studies.story.Results.Spread;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class StreamProbeTest {
  /** Rows of the mean i and the mean square i^2 + 1: rho is i^2 / (i^2 + 1). */
  @Test
  void rmsAndRhoOfTheRowsAtEachDepth() {
    StreamProbe probe = new StreamProbe(2);
    for (int i = 0; i <= 20; i++) {
      probe.forward(0, MemorySegment.ofArray(new float[] {i + 1, i - 1}));
      probe.forward(1, MemorySegment.ofArray(new float[] {2 * i, 2 * i}));
    }
    List<Depth> depths = probe.depths();
    assertThat(depths).extracting(Depth::depth).containsExactly(0, 1);
    assertSpread(depths.get(0).rms(), Math.sqrt(2), Math.sqrt(101), Math.sqrt(362));
    assertSpread(depths.get(0).rho(), 1 / 2.0, 100 / 101.0, 361 / 362.0);
    assertSpread(depths.get(1).rms(), 2, 20, 38);
    assertSpread(depths.get(1).rho(), 1, 1, 1);
  }

  private static void assertSpread(Spread spread, double low, double median, double high) {
    assertThat(spread.low()).isCloseTo(low, within(1e-12));
    assertThat(spread.median()).isCloseTo(median, within(1e-12));
    assertThat(spread.high()).isCloseTo(high, within(1e-12));
  }
}
