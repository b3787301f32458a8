package io.github.rmsnorm4j;

import java.util.stream.IntStream;

/** The backends that there are, by the bits of their vectors: 0 for plain Java. */
final class VectorWidths {
  /** The widest that the machine has, 128 if it has none. */
  static final int BEST = Math.max(128, Backend.best().vectorBits());

  /** A width that the machine lacks is emulated, a thousand times slower. */
  private static final int EMULATED_ELEMENTS = 3000;

  private VectorWidths() {}

  /** Those to check a call of so many elements on. */
  static int[] of(long elements) {
    return IntStream.of(0, 128, 256, 512)
        .filter(bits -> bits <= BEST || elements <= EMULATED_ELEMENTS)
        .toArray();
  }
}
