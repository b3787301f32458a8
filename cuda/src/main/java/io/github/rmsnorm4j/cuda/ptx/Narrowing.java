package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;

/**
 * Conversions between the arithmetic and the types of 16 bits. bfloat16 is converted by operations
 * on integers, so that devices without instructions for it have it, too.
 */
final class Narrowing {
  private static final String BFLOAT16_NAN = "0x7fc0";
  private static final String FLOAT16_NAN = "0x7e00";

  private final PtxText text;

  Narrowing(PtxText text) {
    this.text = text;
  }

  /**
   * The pattern of a number, rounded once, in the low half of 32 bits.
   *
   * @param float64 whether the number is float64
   */
  String pattern(String number, boolean float64, ElementType to) {
    String single = float64 ? roundedToOdd(number) : number;
    return to == ElementType.BFLOAT16 ? bfloat16(single) : float16(single);
  }

  /** To nearest, ties to even, by an addition that carries into the upper half. */
  private String bfloat16(String single) {
    String bits = text.compute(Kind.B32, "mov.b32", single);
    String last = text.compute(Kind.B32, "shr.u32", bits, "16");
    text.put("and.b32", last, last, "1");
    text.put("add.u32", last, last, "0x7fff");
    text.put("add.u32", last, last, bits);
    text.put("shr.u32", last, last, "16");
    String nan = text.test("nan.f32", single, single);
    return text.compute(Kind.B32, "selp.b32", BFLOAT16_NAN, last, nan);
  }

  private String float16(String single) {
    String half = text.compute(Kind.B16, "cvt.rn.f16.f32", single);
    String bits = text.compute(Kind.B32, "cvt.u32.u16", half);
    String nan = text.test("nan.f32", single, single);
    return text.compute(Kind.B32, "selp.b32", FLOAT16_NAN, bits, nan);
  }

  /**
   * A float64 as a float32 that a second rounding, to 16 bits, takes to where one rounding would:
   * cut off, with the last bit set if digits were lost.
   */
  private String roundedToOdd(String number) {
    String cut = text.compute(Kind.F32, "cvt.rz.f32.f64", number);
    String back = text.compute(Kind.F64, "cvt.f64.f32", cut);
    String lost = text.test("neu.f64", back, number);
    String bits = text.compute(Kind.B32, "mov.b32", cut);
    String odd = text.compute(Kind.B32, "or.b32", bits, "1");
    text.put("selp.b32", odd, odd, bits, lost);
    return text.compute(Kind.F32, "mov.b32", odd);
  }

  /** The float32 of a pattern in the low half of 32 bits; the upper half is 0. */
  String widened(String pattern, ElementType from) {
    if (from == ElementType.BFLOAT16) {
      String bits = text.compute(Kind.B32, "shl.b32", pattern, "16");
      return text.compute(Kind.F32, "mov.b32", bits);
    }
    String half = text.compute(Kind.B16, "cvt.u16.u32", pattern);
    return text.compute(Kind.F32, "cvt.f32.f16", half);
  }

  /** The two float32 of the patterns in 32 bits, the first one in the low half. */
  String[] widenedPair(String pair, ElementType from) {
    if (from == ElementType.BFLOAT16) {
      String upper = text.compute(Kind.B32, "and.b32", pair, "0xffff0000");
      return new String[] {widened(pair, from), text.compute(Kind.F32, "mov.b32", upper)};
    }
    String low = text.register(Kind.B16);
    String high = text.register(Kind.B16);
    text.put("mov.b32", "{" + low + ", " + high + "}", pair);
    return new String[] {
      text.compute(Kind.F32, "cvt.f32.f16", low), text.compute(Kind.F32, "cvt.f32.f16", high)
    };
  }

  /** Two patterns in 32 bits, the first one in the low half. */
  String pair(String first, String second) {
    String upper = text.compute(Kind.B32, "shl.b32", second, "16");
    return text.compute(Kind.B32, "or.b32", upper, first);
  }
}
