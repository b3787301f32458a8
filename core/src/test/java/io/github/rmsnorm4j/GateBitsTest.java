package io.github.rmsnorm4j;

import java.util.ArrayList;
import java.util.List;
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
    LongStream.range(0, Backends.ALL_DRAWS ? 40 : 12)
        .parallel()
        .forEach(
            seed -> {
              ElementType type = ElementType.values()[(int) seed % 4];
              GateCase drawn = new GateCase(100 * width + seed, rows, width, type);
              Backends.inTurn(Backends.of((long) rows * width), seed)
                  .forEach(backend -> drawn.check(backend, 1));
            });
  }

  @ParameterizedTest
  @EnumSource
  void longRows(ElementType type) {
    for (int seed = 0; seed < 3; seed++) {
      GateCase drawn = new GateCase(3L * type.ordinal() + seed, 2, 65_537 + 100 * seed, type);
      Backends.inTurn(Backends.of(1 << 17), seed + type.ordinal())
          .forEach(backend -> drawn.check(backend, 1));
    }
  }

  /** There are enough rows that every thread gets a MiB, and several blocks of rows for sums. */
  @Test
  void anyCallOnManyThreads() {
    List<Backend> backends = new ArrayList<>(List.of(Backends.VECTORS));
    backends.addAll(Backends.machineCode());
    for (int seed = 0; seed < 12; seed++) {
      int width = new int[] {64, 300, 2100, 4096}[(seed + seed / 4) % 4];
      GateCase drawn = new GateCase(seed, 300_000 / width, width, ElementType.values()[seed % 4]);
      for (Backend backend : Backends.inTurn(backends, seed)) {
        drawn.check(backend, 2 + seed % 2);
      }
    }
  }
}
