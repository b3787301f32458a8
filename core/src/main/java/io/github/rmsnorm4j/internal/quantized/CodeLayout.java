package io.github.rmsnorm4j.internal.quantized;

/** Where codes and scales of a block are. */
public enum CodeLayout {
  /** A float16 scale, then the codes. */
  Q8_0(2),
  /** A float16 scale, its product with the sum of the codes in float16, then the codes. */
  Q8_1(4),
  /** A float32 scale, the codes, then sums of each 16 codes as int16. */
  Q8_K(4 + 16 * 2),
  /** The codes; scales are in memory of their own. */
  APART(0);

  /** Bytes of a block besides its codes. */
  final int more;

  CodeLayout(int more) {
    this.more = more;
  }

  /** Bytes of a block before its codes. */
  int before() {
    return this == Q8_K ? Float.BYTES : more;
  }
}
