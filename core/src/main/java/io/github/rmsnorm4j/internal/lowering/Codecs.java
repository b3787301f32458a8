package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.INTS;

/** Converts 16-bit types in registers, each by one rounding to nearest, ties to even. */
final class Codecs {
  /** Float32 patterns above it, without their sign, are NaN. */
  private static final int INFINITY = 0x7f800000;

  private static final int NAN = 0x7fc00000;
  private static final int UPPER_HALF = 0xffff0000;

  /** Vectors of fewer bits have no masks: the JIT would put them in boxes. */
  private static final int MASKED_BITS = 128;

  private final Code code;
  private final VectorCode vectors;

  /** Of a vector of floats, or of ints. */
  private final int bits;

  /** A local: the patterns of the floats that are encoded. */
  private int patterns;

  Codecs(Code code, VectorCode vectors, int bits) {
    this.code = code;
    this.vectors = vectors;
    this.bits = bits;
  }

  /** Ints whose lower halves are bfloat16, on the stack, to floats. */
  void decodeLower() {
    ints("LSHL", 16);
    floats();
  }

  /** Ints whose upper halves are bfloat16, on the stack, to floats. */
  void decodeUpper() {
    ints("AND", UPPER_HALF);
    floats();
  }

  /** Floats on the stack to ints whose upper halves are bfloat16; the lower halves are 0. */
  void encodeUpper() {
    encode();
    ints("AND", UPPER_HALF);
    blendNan(NAN);
  }

  /** Floats on the stack to ints whose lower halves are bfloat16; the upper halves are 0. */
  void encodeLower() {
    encode();
    ints("LSHR", 16);
    blendNan(NAN >>> 16);
  }

  private void encode() {
    vectors.reinterpret(INTS, bits);
    patterns = code.store();
    code.load(patterns);
    ints("LSHR", 16);
    ints("AND", 1);
    ints("ADD", 0x7fff);
    vectors.with(INTS, "ADD", patterns);
  }

  private void ints(String operator, int number) {
    vectors.ints(operator, number);
  }

  private void floats() {
    vectors.reinterpret(FLOATS, bits);
  }

  /** Replaces the pattern on the stack by another one where the floats are NaN. */
  private void blendNan(int pattern) {
    int otherwise = code.store();
    code.load(patterns);
    ints("AND", 0x7fffffff);
    int size = code.store();
    code.load(otherwise);
    blend(size, INFINITY, vectors.broadcast(INTS, bits, () -> code.c.loadConstant(pattern)));
  }

  /**
   * Replaces the ints on the stack by those of a local where a size is above a limit.
   *
   * @param size a local; neither it nor the limit is negative
   */
  private void blend(int size, int limit, int other) {
    if (bits >= MASKED_BITS) {
      code.load(size);
      vectors.above(limit).blend(other);
      return;
    }
    int otherwise = code.store();
    int mask = vectors.broadcast(INTS, bits, () -> code.c.loadConstant(limit));
    code.load(mask);
    vectors.with(INTS, "SUB", size).ints("ASHR", 31);
    mask = code.store();
    code.load(otherwise);
    vectors.with(INTS, "XOR", other).with(INTS, "AND", mask).with(INTS, "XOR", otherwise);
  }

  /** Floats on the stack, with every NaN replaced by the canonical one. */
  void oneNan() {
    vectors.reinterpret(INTS, bits);
    patterns = code.store();
    code.load(patterns);
    blendNan(NAN);
    floats();
  }

  /** Floats on the stack rounded to bfloat16, as floats. */
  void roundToBfloat16() {
    encodeUpper();
    floats();
  }

  /** Floats on the stack rounded to float16, as floats. */
  void roundToFloat16() {
    vectors.reinterpret(INTS, bits);
    patterns = code.store();
    int half = vectors.broadcast(FLOATS, bits, () -> code.c.loadConstant(0.5f));
    int infinity = vectors.broadcast(INTS, bits, () -> code.c.loadConstant(INFINITY));
    code.load(patterns);
    ints("AND", 0x7fffffff);
    int size = code.store();
    // From 2^-14 on a rounded float32 has 10 digits after the first.
    code.load(size);
    ints("LSHR", 13);
    ints("AND", 1);
    ints("ADD", 0xfff);
    vectors.with(INTS, "ADD", size);
    ints("AND", 0xffffe000);
    int rounded = code.store();
    // From 65536 on it is infinity.
    code.load(rounded);
    blend(rounded, 0x477fffff, infinity);
    rounded = code.store();
    // Below 2^-14 adding 0.5 rounds to multiples of 2^-24.
    code.load(size);
    floats();
    vectors.with(FLOATS, "ADD", half).with(FLOATS, "SUB", half).reinterpret(INTS, bits);
    blend(size, 0x387fffff, rounded);
    int magnitude = code.store();
    code.load(patterns);
    ints("AND", 0x80000000);
    vectors.with(INTS, "OR", magnitude);
    blendNan(NAN);
    floats();
  }
}
