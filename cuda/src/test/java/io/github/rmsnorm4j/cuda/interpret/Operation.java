package io.github.rmsnorm4j.cuda.interpret;

import static java.lang.Double.doubleToRawLongBits;
import static java.lang.Double.longBitsToDouble;
import static java.lang.Float.intBitsToFloat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An instruction that computes one register from others, lane by lane.
 *
 * @param result the type of the result
 * @param operands the types of the operands
 * @param function from the bits of the operands to the bits of the result
 */
record Operation(Type result, List<Type> operands, Function function) {
  /** Bits of up to three operands; absent ones are 0. */
  @FunctionalInterface
  interface Function {
    long apply(long a, long b, long c);
  }

  private static final Map<String, Operation> ALL = new HashMap<>();

  /** The operation with a name, such as add.rn.f32; null if there is none. */
  static Operation of(String name) {
    return ALL.get(name);
  }

  private static void add(String name, Function function, Type result, Type... operands) {
    if (ALL.put(name, new Operation(result, List.of(operands), function)) != null) {
      throw new IllegalStateException(name + " is there twice");
    }
  }

  private static float f(long bits) {
    return intBitsToFloat((int) bits);
  }

  private static double d(long bits) {
    return longBitsToDouble(bits);
  }

  /** Devices have one NaN for the results of float32 arithmetic. */
  private static long bits(float value) {
    return value != value ? 0x7fffffffL : Float.floatToRawIntBits(value) & 0xffffffffL;
  }

  private static long bits(double value) {
    return value != value ? 0x7fffffffffffffffL : doubleToRawLongBits(value);
  }

  private static long bit(boolean value) {
    return value ? 1 : 0;
  }

  static {
    arithmetic();
    comparisons();
    integers();
    conversions();
    moves();
  }

  private static void arithmetic() {
    add("add.rn.f32", (a, b, c) -> bits(f(a) + f(b)), Type.F32, Type.F32, Type.F32);
    add("sub.rn.f32", (a, b, c) -> bits(f(a) - f(b)), Type.F32, Type.F32, Type.F32);
    add("mul.rn.f32", (a, b, c) -> bits(f(a) * f(b)), Type.F32, Type.F32, Type.F32);
    add("div.rn.f32", (a, b, c) -> bits(f(a) / f(b)), Type.F32, Type.F32, Type.F32);
    add("add.rn.f64", (a, b, c) -> bits(d(a) + d(b)), Type.F64, Type.F64, Type.F64);
    add("sub.rn.f64", (a, b, c) -> bits(d(a) - d(b)), Type.F64, Type.F64, Type.F64);
    add("mul.rn.f64", (a, b, c) -> bits(d(a) * d(b)), Type.F64, Type.F64, Type.F64);
    add("div.rn.f64", (a, b, c) -> bits(d(a) / d(b)), Type.F64, Type.F64, Type.F64);
    add(
        "fma.rn.f32",
        (a, b, c) -> bits(Math.fma(f(a), f(b), f(c))),
        Type.F32,
        Type.F32,
        Type.F32,
        Type.F32);
    add(
        "fma.rn.f64",
        (a, b, c) -> bits(Math.fma(d(a), d(b), d(c))),
        Type.F64,
        Type.F64,
        Type.F64,
        Type.F64);
    add("sqrt.rn.f64", (a, b, c) -> bits(Math.sqrt(d(a))), Type.F64, Type.F64);
    add("abs.f64", (a, b, c) -> bits(Math.abs(d(a))), Type.F64, Type.F64);
    add("abs.f32", (a, b, c) -> bits(Math.abs(f(a))), Type.F32, Type.F32);
  }

  private static void comparisons() {
    add("setp.gt.f32", (a, b, c) -> bit(f(a) > f(b)), Type.PRED, Type.F32, Type.F32);
    add("setp.lt.f32", (a, b, c) -> bit(f(a) < f(b)), Type.PRED, Type.F32, Type.F32);
    add("setp.eq.f32", (a, b, c) -> bit(f(a) == f(b)), Type.PRED, Type.F32, Type.F32);
    add("setp.nan.f32", (a, b, c) -> bit(unordered(f(a), f(b))), Type.PRED, Type.F32, Type.F32);
    add("setp.gt.f64", (a, b, c) -> bit(d(a) > d(b)), Type.PRED, Type.F64, Type.F64);
    add("setp.ge.f64", (a, b, c) -> bit(d(a) >= d(b)), Type.PRED, Type.F64, Type.F64);
    add("setp.lt.f64", (a, b, c) -> bit(d(a) < d(b)), Type.PRED, Type.F64, Type.F64);
    add("setp.eq.f64", (a, b, c) -> bit(d(a) == d(b)), Type.PRED, Type.F64, Type.F64);
    add("setp.ltu.f64", (a, b, c) -> bit(!(d(a) >= d(b))), Type.PRED, Type.F64, Type.F64);
    add("setp.gtu.f64", (a, b, c) -> bit(!(d(a) <= d(b))), Type.PRED, Type.F64, Type.F64);
    add("setp.neu.f64", (a, b, c) -> bit(d(a) != d(b)), Type.PRED, Type.F64, Type.F64);
    add("setp.nan.f64", (a, b, c) -> bit(unordered(d(a), d(b))), Type.PRED, Type.F64, Type.F64);
    add("setp.eq.u32", (a, b, c) -> bit(a == b), Type.PRED, Type.U32, Type.U32);
    add("setp.ne.u32", (a, b, c) -> bit(a != b), Type.PRED, Type.U32, Type.U32);
    add("setp.lt.u32", (a, b, c) -> bit(a < b), Type.PRED, Type.U32, Type.U32);
    add("setp.gt.u32", (a, b, c) -> bit(a > b), Type.PRED, Type.U32, Type.U32);
    add("setp.ge.u32", (a, b, c) -> bit(a >= b), Type.PRED, Type.U32, Type.U32);
    add(
        "setp.ge.u64",
        (a, b, c) -> bit(Long.compareUnsigned(a, b) >= 0),
        Type.PRED,
        Type.U64,
        Type.U64);
    add("setp.eq.u64", (a, b, c) -> bit(a == b), Type.PRED, Type.U64, Type.U64);
    add("setp.ne.u64", (a, b, c) -> bit(a != b), Type.PRED, Type.U64, Type.U64);
    for (String type : List.of("b32", "f32", "b64", "f64")) {
      Type of = Type.of(type);
      add("selp." + type, (a, b, c) -> c != 0 ? a : b, of, of, of, Type.PRED);
    }
  }

  private static boolean unordered(double a, double b) {
    return a != a || b != b;
  }

  private static void integers() {
    add("add.u32", (a, b, c) -> a + b, Type.U32, Type.U32, Type.U32);
    add("sub.u32", (a, b, c) -> a - b, Type.U32, Type.U32, Type.U32);
    add("min.u32", (a, b, c) -> Math.min(a, b), Type.U32, Type.U32, Type.U32);
    add("max.u32", (a, b, c) -> Math.max(a, b), Type.U32, Type.U32, Type.U32);
    add("prmt.b32", Operation::bytes, Type.B32, Type.B32, Type.B32, Type.B32);
    add("and.pred", (a, b, c) -> a & b, Type.PRED, Type.PRED, Type.PRED);
    add("mul.lo.u32", (a, b, c) -> a * b, Type.U32, Type.U32, Type.U32);
    add("mad.lo.u32", (a, b, c) -> a * b + c, Type.U32, Type.U32, Type.U32, Type.U32);
    add("div.u32", (a, b, c) -> a / divisor(b), Type.U32, Type.U32, Type.U32);
    add("rem.u32", (a, b, c) -> a % divisor(b), Type.U32, Type.U32, Type.U32);
    add("add.u64", (a, b, c) -> a + b, Type.U64, Type.U64, Type.U64);
    add("mul.lo.u64", (a, b, c) -> a * b, Type.U64, Type.U64, Type.U64);
    add("mad.lo.u64", (a, b, c) -> a * b + c, Type.U64, Type.U64, Type.U64, Type.U64);
    add("mul.wide.u32", (a, b, c) -> a * b, Type.U64, Type.U32, Type.U32);
    add("mad.wide.u32", (a, b, c) -> a * b + c, Type.U64, Type.U32, Type.U32, Type.U64);
    for (String type : List.of("b32", "b64")) {
      Type of = Type.of(type);
      int most = 8 * of.bytes;
      add("and." + type, (a, b, c) -> a & b, of, of, of);
      add("or." + type, (a, b, c) -> a | b, of, of, of);
      add("shl." + type, (a, b, c) -> b >= most ? 0 : a << b, of, of, Type.U32);
    }
    add("shr.u32", (a, b, c) -> b >= 32 ? 0 : a >>> b, Type.U32, Type.U32, Type.U32);
  }

  /** The bytes of two registers that a third one selects. */
  private static long bytes(long a, long b, long selection) {
    long bytes = a | b << 32;
    long selected = 0;
    for (int i = 0; i < 4; i++) {
      long place = selection >>> 4 * i & 0xf;
      if (place > 7) {
        throw new PtxFault("a sign of a byte, which is not known here");
      }
      selected |= (bytes >>> 8 * place & 0xff) << 8 * i;
    }
    return selected;
  }

  private static long divisor(long b) {
    if (b == 0) {
      throw new PtxFault("a division by 0");
    }
    return b;
  }

  private static void conversions() {
    add("cvt.f64.f32", (a, b, c) -> bits((double) f(a)), Type.F64, Type.F32);
    add("cvt.rn.f32.f64", (a, b, c) -> bits((float) d(a)), Type.F32, Type.F64);
    add("cvt.rz.f32.f64", (a, b, c) -> bits(cutOff(d(a))), Type.F32, Type.F64);
    add("cvt.rn.f64.u32", (a, b, c) -> bits((double) a), Type.F64, Type.U32);
    add("cvt.rn.f16.f32", (a, b, c) -> float16(f(a)), Type.F16, Type.F32);
    add("cvt.f32.f16", (a, b, c) -> bits(Float.float16ToFloat((short) a)), Type.F32, Type.F16);
    add("cvt.rzi.s32.f32", (a, b, c) -> (int) f(a), Type.S32, Type.F32);
    add("cvt.rzi.s32.f64", (a, b, c) -> (int) d(a), Type.S32, Type.F64);
    add("cvt.u32.u16", (a, b, c) -> a, Type.U32, Type.U16);
    add("cvt.u16.u32", (a, b, c) -> a, Type.U16, Type.U32);
    add("cvt.u64.u32", (a, b, c) -> a, Type.U64, Type.U32);
    add("cvta.to.global.u64", (a, b, c) -> a, Type.U64, Type.U64);
  }

  /** Towards 0. */
  private static float cutOff(double value) {
    float nearest = (float) value;
    if (Math.abs((double) nearest) > Math.abs(value)) {
      return intBitsToFloat(Float.floatToRawIntBits(nearest) - 1);
    }
    return nearest;
  }

  /** A device's NaN of float16 is not the canonical one of the contract. */
  private static long float16(float value) {
    return value != value ? 0x7fff : Float.floatToFloat16(value) & 0xffffL;
  }

  private static void moves() {
    for (String type : List.of("b32", "u32", "b64", "u64", "f64", "f32")) {
      Type of = Type.of(type);
      add("mov." + type, (a, b, c) -> a, of, of);
    }
  }
}
