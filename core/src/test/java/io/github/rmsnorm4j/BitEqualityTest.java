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
}
