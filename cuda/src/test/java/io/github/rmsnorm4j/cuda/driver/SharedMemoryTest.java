package io.github.rmsnorm4j.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SharedMemoryTest {
  /** By device: what a block may ask for and what a multiprocessor has, in KiB. */
  @ParameterizedTest
  @CsvSource({
    "V100, 96, 96, 49152",
    "T4, 64, 64, 49152",
    "A100, 163, 164, 54912",
    "L4, 99, 100, 49152",
    "H200, 227, 228, 76800",
    "a device whose blocks may ask for less than a third, 60, 256, 61440"
  })
  void threeBlocksFitAMultiprocessor(String device, int most, int all, int expected) {
    int bytes = SharedMemory.ofBlock(most << 10, all << 10);
    assertThat(bytes).as(device).isEqualTo(expected);
    assertThat(bytes == SharedMemory.LEAST || 3 * (bytes + 1024) <= all << 10).isTrue();
  }
}
