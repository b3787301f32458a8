package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FiguresTest {
  @Test
  void threeDigitsAndAUnit() {
    assertThat(Figures.time(0.5)).isEqualTo("0.50 ns");
    assertThat(Figures.time(999.4)).isEqualTo("999 ns");
    assertThat(Figures.time(999.6)).isEqualTo("1.00 µs");
    assertThat(Figures.time(2.6149e9)).isEqualTo("2.61 s");
    assertThat(Figures.time(7.2e12)).isEqualTo("7200 s");
    assertThat(Figures.times(9.6e5, 1.05e6)).isEqualTo("0.96 to 1.05 ms");
    assertThat(Figures.bytes(0)).isEqualTo("0 bytes");
    assertThat(Figures.bytes(2L << 30)).isEqualTo("2.00 GiB");
    assertThat(Figures.bytes(1000 << 10)).isEqualTo("0.98 MiB");
    assertThat(Figures.ratio(9.999)).isEqualTo("10.0");
    assertThat(Figures.ratio(0.0123)).isEqualTo("0.012");
    assertThat(Figures.error(1.26e-7)).isEqualTo("1e-07");
  }
}
