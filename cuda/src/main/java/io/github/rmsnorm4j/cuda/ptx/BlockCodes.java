package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.quantized.CodeFormula;

/** The scale of a block, and the codes of its elements, from their description. */
final class BlockCodes {
  /** The codes of a word from the first bytes of four registers. */
  private static final String FIRST_BYTES = "0x40";

  private static final String FIRST_HALVES = "0x5410";
  private static final int OF_WORD = Integer.BYTES;

  private final PtxText text;
  private final Accesses accesses;
  private final CodeFormula formula;
  private final Float8 float8;

  BlockCodes(PtxText text, CodeFormula formula) {
    this.text = text;
    accesses = new Accesses(text);
    this.formula = formula;
    float8 = formula.format().float8();
  }

  /**
   * A block whose scale is known.
   *
   * @param factor a register
   * @param hasCodes a predicate: otherwise all codes are 0; null where the scale is given
   */
  record Found(String factor, String hasCodes) {}

  /** The factor of a scale that is given for all blocks. */
  Found given(ValueCode row) {
    String scale = text.compute(Kind.F64, "ld.param.f64", "[" + Codes.GIVEN + "]");
    String single = text.compute(Kind.F32, "cvt.rn.f32.f64", scale);
    return new Found(row.ofElement(value -> single).of(formula.factor()), null);
  }

  /**
   * Finds the scale and factor of a block. One thread stores the scale.
   *
   * @param largest the pattern of the largest magnitude
   * @param at the address for the scale
   * @param others a predicate of the threads that do not store it
   */
  Found find(ValueCode row, String largest, String at, String others) {
    String magnitude = text.compute(Kind.F32, "mov.b32", largest);
    ValueCode block = row.ofElement(value -> magnitude);
    String scale = block.of(formula.scale());
    String factor = block.of(formula.factor());
    String hasCodes = isPositive(scale);
    if (!factor.equals(scale)) {
      text.put("and.pred", hasCodes, hasCodes, isPositive(factor));
    }
    String stored = text.label("SCALE_STORED");
    text.branchIf(others, stored);
    String empty = block.of(formula.emptyScale());
    String number = text.compute(Kind.F32, "selp.f32", scale, empty, hasCodes);
    accesses.store(new Place(false, at, ElementType.FLOAT32), number);
    text.mark(stored);
    return new Found(factor, hasCodes);
  }

  /** A predicate: a number is above 0 and finite. */
  private String isPositive(String number) {
    String above = text.test("gt.f32", number, PtxText.literal(0f));
    String below = text.test("lt.f32", number, PtxText.literal(Float.POSITIVE_INFINITY));
    return text.compute(Kind.PREDICATE, "and.pred", above, below);
  }

  /** The code of a number, in the first byte of 32 bits; any number in a block without codes. */
  String code(ValueCode row, String number, Found block) {
    ValueCode element =
        row.ofElement(value -> value.equals(CodeFormula.ELEMENT) ? number : block.factor);
    if (float8 != null) {
      return float8(element.of(formula.scaled()));
    }
    Value integer = formula.integer();
    String convert = integer.float64() ? "cvt.rzi.s32.f64" : "cvt.rzi.s32.f32";
    return text.compute(Kind.B32, convert, element.of(integer));
  }

  /** The operations of {@link Float8#encode}. */
  private String float8(String number) {
    String bits = text.compute(Kind.B32, "mov.b32", number);
    String sign = text.compute(Kind.B32, "shr.u32", bits, Integer.toString(Float8.TO_SIGN));
    text.put("and.b32", sign, sign, hex(Float8.SIGN));
    String magnitude = text.compute(Kind.F32, "abs.f32", number);
    String most = PtxText.literal(float8.largest);
    String over = text.test("gt.f32", magnitude, most);
    text.put("selp.f32", magnitude, most, magnitude, over);
    String exponent = text.compute(Kind.B32, "mov.b32", magnitude);
    text.put("and.b32", exponent, exponent, hex(Float8.EXPONENT));
    text.put("max.u32", exponent, exponent, hex(float8.leastNormal));
    String power = text.compute(Kind.F32, "mov.b32", exponent);
    String lastDigit = PtxText.literal(Float.intBitsToFloat(float8.lastDigit));
    String added = text.compute(Kind.F32, "mul.rn.f32", power, lastDigit);
    String sum = text.compute(Kind.F32, "add.rn.f32", magnitude, added);
    String code = text.compute(Kind.B32, "mov.b32", sum);
    text.put("shr.u32", exponent, exponent, Integer.toString(float8.cut));
    text.put("add.u32", code, code, exponent);
    text.put("and.b32", code, code, hex(Float8.CODE));
    text.put("or.b32", code, code, sign);
    String nan = text.test("nan.f32", number, number);
    text.put("selp.b32", code, hex(Float8.NAN), code, nan);
    return code;
  }

  private static String hex(int bits) {
    return "0x" + Integer.toHexString(bits);
  }

  private String orZero(String codes, Found block) {
    return block.hasCodes == null
        ? codes
        : text.compute(Kind.B32, "selp.b32", codes, "0", block.hasCodes);
  }

  /** Stores one code. */
  void store(String address, int offset, String code, Found block) {
    text.put("st.global.u8", PtxText.at(address, offset), orZero(code, block));
  }

  /** Stores 4 or 8 codes that are one after the other by one access. */
  void store(String address, String[] codes, Found block) {
    String[] words = new String[codes.length / OF_WORD];
    for (int w = 0; w < words.length; w++) {
      String low = pair(codes[OF_WORD * w], codes[OF_WORD * w + 1], FIRST_BYTES);
      String high = pair(codes[OF_WORD * w + 2], codes[OF_WORD * w + 3], FIRST_BYTES);
      words[w] = orZero(pair(low, high, FIRST_HALVES), block);
    }
    if (words.length == 1) {
      text.put("st.global.u32", PtxText.at(address, 0), words[0]);
    } else {
      String both = "{" + words[0] + ", " + words[1] + "}";
      text.put("st.global.v2.u32", PtxText.at(address, 0), both);
    }
  }

  private String pair(String a, String b, String selection) {
    return text.compute(Kind.B32, "prmt.b32", a, b, selection);
  }
}
