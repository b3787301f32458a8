package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SamplesTest {
  private final Samples odd = new Samples(List.of(9.0, 1.0, 2.0));

  @Test
  void medianTakesTheMiddle() {
    assertThat(odd.median()).isEqualTo(2);
    assertThat(new Samples(List.of(9.0, 1.0, 2.0, 4.0)).median()).isEqualTo(3);
  }

  @Test
  void endsAreTheShortestAndTheLongest() {
    assertThat(odd.lowest()).isEqualTo(1);
    assertThat(odd.highest()).isEqualTo(9);
  }

  @Test
  void ratioIsOfMedians() {
    assertThat(odd.over(new Samples(List.of(0.5, 300.0, 0.1)))).isEqualTo(4);
  }

  @Test
  void noRoundsAreNoSamples() {
    assertThatThrownBy(() -> new Samples(List.of()))
        .hasMessage("nanos is empty, it must hold a number per round");
  }
}
