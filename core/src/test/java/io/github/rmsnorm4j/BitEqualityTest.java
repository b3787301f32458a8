package io.github.rmsnorm4j;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend gives the contract's bits, wherever rows lie and whatever they hold. */
class BitEqualityTest {
  private static final int[] WIDTHS = {
    1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 4095, 4096, 4097
  };

  /** A width that the machine lacks is emulated, a thousand times slower. */
  private static final int EMULATED_ELEMENTS = 3000;

  private static final int[] LONG_WIDTHS = {65_537, 66_000, 131_072, 140_001};

  private static final int CASES = 1500;

  @ParameterizedTest
  @ValueSource(
      ints = {
        1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536,
        65537, 200003
      })
  void everyWidthOnEveryBackendAndType(int width) {
    for (ElementType type : ElementType.values()) {
      for (long seed = 0; seed < 6; seed++) {
        Case drawn = Case.of(seed, width, Math.max(1, 200 / width), type);
        for (int bits : new int[] {0, 128, 256}) {
          drawn.check(bits, 1);
        }
        if (seed < 2) {
          drawn.check(512, 1);
        }
      }
    }
  }

  /** The cross product of everything a call can be, by chance; the seed tells a failure again. */
  @Test
  void anyCallOnEveryBackend() {
    for (long seed = 0; seed < CASES; seed++) {
      Case drawn = Case.of(seed, WIDTHS);
      for (int bits : new int[] {0, 128, 256, 512}) {
        if (bits <= Math.max(128, Backend.best().vectorBits())
            || drawn.elements() <= EMULATED_ELEMENTS) {
          drawn.check(bits, 1);
        }
      }
    }
  }

  /** Rows longer than a super-block go in pieces: read, cast and written piece by piece. */
  @Test
  void anyCallOfLongRows() {
    for (long seed = 0; seed < 32; seed++) {
      int width = LONG_WIDTHS[(int) seed % LONG_WIDTHS.length];
      ElementType type = ElementType.values()[(int) seed / 4 % 4];
      Case drawn = Case.of(seed + 10_000, width, 2, type);
      for (int bits : new int[] {0, 128, Backend.best().vectorBits()}) {
        drawn.check(bits, 1);
      }
    }
  }

  /** With enough rows that every thread gets its MiB. */
  @Test
  void anyCallOnManyThreads() {
    for (long seed = 0; seed < 16; seed++) {
      int width = new int[] {64, 300, 1025, 4096}[(int) seed % 4];
      ElementType type = ElementType.values()[(int) seed / 4];
      Case.of(seed + 20_000, width, 800_000 / width, type).check(Backend.best().vectorBits(), 3);
    }
  }
}
