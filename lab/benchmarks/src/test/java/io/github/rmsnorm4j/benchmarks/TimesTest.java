package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TimesTest {
  @Test
  void ratioIsOfMedians() {
    assertThat(new Times(List.of(30.0, 20.0, 900.0), List.of(10.0, 0.1, 20.0)).ratio())
        .isEqualTo(3);
  }
}
