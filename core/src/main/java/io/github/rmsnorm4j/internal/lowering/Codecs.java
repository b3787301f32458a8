package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.INTS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.MASK;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.VECTOR;
import static java.lang.constant.ConstantDescs.CD_int;

/** The types of 16 bits in registers, each by one rounding to nearest, ties to even. */
final class Codecs {
  /** Float32 patterns above it, without their sign, are NaN. */
  private static final int INFINITY = 0x7f800000;

  private static final int NAN = 0x7fc00000;
  private static final int UPPER_HALF = 0xffff0000;

  private final Code code;
  private final VectorCode vectors;

  Codecs(Code code, VectorCode vectors) {
    this.code = code;
    this.vectors = vectors;
  }

  /** Ints whose lower halves are bfloat16, on the stack, to floats. */
  void decodeLower() {
    vectors.ints("LSHL", 16).intsAsFloats();
  }

  /** Ints whose upper halves are bfloat16, on the stack, to floats. */
  void decodeUpper() {
    vectors.ints("AND", UPPER_HALF).intsAsFloats();
  }

  /** Floats on the stack to ints whose upper halves are bfloat16; the lower halves are 0. */
  void encodeUpper() {
    encode();
    vectors.ints("AND", UPPER_HALF);
    blendNan(NAN);
  }

  /** The same in the lower halves. */
  void encodeLower() {
    encode();
    vectors.ints("LSHR", 16);
    blendNan(NAN >>> 16);
  }

  private int bits;

  private void encode() {
    vectors.floatsAsInts();
    bits = code.store();
    code.load(bits);
    vectors.ints("LSHR", 16).ints("AND", 1).ints("ADD", 0x7fff).ints("ADD", bits, true);
  }

  /** Puts a pattern where the bits were NaN. */
  private void blendNan(int pattern) {
    code.c.loadConstant(pattern);
    code.load(bits);
    vectors.ints("AND", 0x7fffffff).above(INFINITY).call(INTS, "blend", INTS, CD_int, MASK);
  }

  /** Floats on the stack rounded to bfloat16, as floats. */
  void roundToBfloat16() {
    encodeUpper();
    vectors.intsAsFloats();
  }

  /** Floats on the stack rounded to float16, as floats. */
  void roundToFloat16() {
    vectors.floatsAsInts();
    bits = code.store();
    code.load(bits);
    vectors.ints("AND", 0x7fffffff);
    int size = code.store();
    // Below 2^-14 adding 0.5 rounds to multiples of 2^-24.
    code.load(size);
    vectors.intsAsFloats().with(FLOATS, "add", 0.5f).with(FLOATS, "sub", 0.5f).floatsAsInts();
    // From there on a rounded float32 has 10 digits after the first.
    code.load(size);
    vectors.ints("LSHR", 13).ints("AND", 1).ints("ADD", 0xfff).ints("ADD", size, true);
    vectors.ints("AND", 0xffffe000);
    int rounded = code.store();
    // From 65536 on it is infinity.
    code.load(rounded).c.loadConstant(INFINITY);
    code.load(rounded);
    vectors.above(0x477fffff).call(INTS, "blend", INTS, CD_int, MASK);
    rounded = code.store();
    code.load(rounded).load(size);
    vectors.above(0x387fffff).call(INTS, "blend", INTS, VECTOR, MASK);
    int magnitude = code.store();
    code.load(bits);
    vectors.ints("AND", 0x80000000).ints("OR", magnitude, true);
    blendNan(NAN);
    vectors.intsAsFloats();
  }
}
