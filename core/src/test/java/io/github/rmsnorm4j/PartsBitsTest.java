package io.github.rmsnorm4j;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every backend gives the contract's bits of rows with groups, of samples and of a norm with a
 * gate, forward and backward. A group and a sample have those of a norm of their own.
 */
class PartsBitsTest {
  private static final int MANY = 20_000;

  /** Rows, groups and elements of a group; as many rows as there are blocks of 32, and more. */
  @ParameterizedTest
  @CsvSource({
    "1, 8, 64",
    "5, 8, 64",
    "33, 3, 32",
    "35, 3, 1056",
    "70, 8, 128",
    "9, 1, 100",
    "7, 50, 1",
    "6, 7, 33",
    "40, 5, 31",
    "3, 3, 1025",
    "2, 9, 4096",
    "20, 32, 17",
    "2, 2, 70000",
    "1, 3, 65537"
  })
  void groups(int rows, int groups, int width) {
    for (int seed = 0; seed < (rows * groups * width > MANY ? 6 : 12); seed++) {
      check(seed, rows, groups * width, new Parts(1, groups, gate(seed)), rows + groups);
    }
  }

  /** Samples, rows of each and their width; as many rows as there are blocks of 32, and more. */
  @ParameterizedTest
  @CsvSource({
    "1, 5, 64",
    "3, 1, 100",
    "4, 33, 32",
    "2, 70, 128",
    "50, 7, 1",
    "50, 1, 32",
    "7, 6, 33",
    "5, 40, 31",
    "3, 3, 1025",
    "9, 2, 4096",
    "20, 17, 48",
    "2, 2, 70000",
    "3, 1, 65537"
  })
  void samples(int samples, int rows, int width) {
    for (int seed = 0; seed < (samples * rows * width > MANY ? 6 : 12); seed++) {
      Parts parts = new Parts(samples, 1, gate(seed));
      check(seed, samples * rows, width, parts, 2 * rows + samples);
    }
  }

  /** None in every second call. */
  private static Gate gate(int seed) {
    return seed % 2 == 0 ? Gate.NONE : Gate.values()[1 + seed / 2 % 3];
  }

  private static void check(int seed, int rows, int width, Parts parts, int turn) {
    ElementType type = ElementType.values()[(seed + seed / 4) % 4];
    Case drawn = drawn(seed, rows, width, type, parts);
    for (Backend backend : Backends.inTurn(Backends.EACH, seed + turn)) {
      drawn.check(backend, 1);
    }
  }

  private static Case drawn(long seed, int rows, int width, ElementType type, Parts parts) {
    Draw draw = new Draw(~seed);
    Shape any = Shape.of(Direction.BACKWARD, draw, type, rows, width);
    boolean centred = any.centred() && parts.gate() != Gate.SILU_BEFORE;
    return Case.of(
        seed,
        new Shape(any.direction(), type, any.heap(), centred, any.plain(), rows, width),
        parts);
  }

  /** Rows enough that threads pay, shared out anywhere in a row or a sample. */
  @ParameterizedTest
  @CsvSource({
    "1, 3, 3000",
    "1, 7, 3000",
    "1, 8, 3000",
    "3, 1, 9000",
    "8, 1, 8888",
    "3001, 1, 9003"
  })
  void onManyThreads(int samples, int groups, int rows) {
    Parts parts = new Parts(samples, groups, Gate.NONE);
    Case drawn = drawn(samples * groups, rows, groups * 100, ElementType.FLOAT32, parts);
    for (Backend backend : Backends.inTurn(Backends.EACH, samples * groups)) {
      drawn.check(backend, 3);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 31, 32, 64, 65, 96, 256, 300, 1024, 1025, 2100, 4096})
  void gates(int width) {
    int rows = Math.clamp(300 / width, 2, 40);
    LongStream.range(0, Backends.ALL_DRAWS ? 40 : 12)
        .parallel()
        .forEach(
            seed -> {
              Case drawn = gated(100 * width + seed, rows, width, (int) seed % 4);
              Backends.inTurn(Backends.of((long) rows * width), seed)
                  .forEach(backend -> drawn.check(backend, 1));
            });
  }

  private static Case gated(long seed, int rows, int width, int type) {
    Parts parts = new Parts(1, 1, Gate.values()[1 + (int) (seed / 4 % 3)]);
    return drawn(seed, rows, width, ElementType.values()[type], parts);
  }

  @ParameterizedTest
  @EnumSource
  void gatesOfLongRows(ElementType type) {
    for (int seed = 0; seed < 3; seed++) {
      Case drawn = gated(4L * seed + type.ordinal(), 2, 65_537 + 100 * seed, type.ordinal());
      Backends.inTurn(Backends.of(1 << 17), seed + type.ordinal())
          .forEach(backend -> drawn.check(backend, 1));
    }
  }

  /** There are enough rows that every thread gets a MiB, and several blocks of rows for sums. */
  @Test
  void gatesOnManyThreads() {
    List<Backend> backends = new ArrayList<>(List.of(Backends.VECTORS));
    backends.addAll(Backends.machineCode());
    for (int seed = 0; seed < 12; seed++) {
      int width = new int[] {64, 300, 2100, 4096}[(seed + seed / 4) % 4];
      Case drawn = gated(seed, 300_000 / width, width, seed % 4);
      for (Backend backend : Backends.inTurn(backends, seed)) {
        drawn.check(backend, 2 + seed % 2);
      }
    }
  }
}
