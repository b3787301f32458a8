package io.github.rmsnorm4j;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend gives the contract's bits of a norm with a gate, forward and backward. */
class GateBitsTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 31, 32, 64, 65, 96, 256, 300, 1024, 1025, 2100, 4096})
  void anyCallOnEveryBackend(int width) {
    int rows = Math.clamp(300 / width, 2, 40);
    LongStream.range(0, Backends.ALL_DRAWS ? 40 : 20)
        .parallel()
        .forEach(
            seed -> {
              ElementType type = ElementType.values()[(int) seed % 4];
              GateCase drawn = new GateCase(100 * width + seed, rows, width, type);
              Backends.ofDrawn((long) rows * width, seed)
                  .forEach(backend -> drawn.check(backend, 1));
            });
  }

  @ParameterizedTest
  @EnumSource
  void longRows(ElementType type) {
    for (int seed = 0; seed < 3; seed++) {
      GateCase drawn = new GateCase(seed, 2, 65_537 + 100 * seed, type);
      Backends.of(1 << 17).forEach(backend -> drawn.check(backend, 1));
    }
  }

  /** There are enough rows that every thread gets a MiB, and several blocks of rows for sums. */
  @Test
  void anyCallOnManyThreads() {
    for (int seed = 0; seed < 8; seed++) {
      int width = new int[] {64, 300, 2100, 4096}[seed % 4];
      GateCase drawn = new GateCase(seed, 300_000 / width, width, ElementType.values()[seed / 2]);
      drawn.check(Backends.VECTORS, 2);
      Backends.machineCode().forEach(backend -> drawn.check(backend, 3));
    }
  }
}
