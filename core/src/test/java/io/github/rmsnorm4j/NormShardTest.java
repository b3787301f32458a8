package io.github.rmsnorm4j;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows that several owners have a part of have the bits of whole rows. */
class NormShardTest {
  @ParameterizedTest
  @CsvSource({
    "5, 1",
    "7, 1000",
    "6, 1024",
    "9, 1025",
    "5, 2048",
    "33, 3000",
    "40, 4096",
    "3, 9999",
    "2, 65536",
    "2, 66000",
    "2, 140000"
  })
  void haveTheBitsOfWholeRows(int rows, int width) throws InterruptedException {
    for (int seed = 0; seed < (rows * width > 50_000 ? 8 : 24); seed++) {
      ShardCase drawn = new ShardCase(seed, ElementType.values()[seed % 4], rows, width);
      for (Backend backend : Backends.EACH) {
        drawn.check(backend, 1, numbers -> {});
      }
    }
  }
}
