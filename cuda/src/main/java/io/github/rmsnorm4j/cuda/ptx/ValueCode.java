package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Values as registers, each computed once. Every operation is rounded to nearest and says so, so
 * the driver's compiler may fuse none.
 */
final class ValueCode {
  /** Gives numbers that are in memory. */
  @FunctionalInterface
  interface Elements {
    /** A register with an element or a number of its column. */
    String load(Value element);
  }

  /** Makes a number that was loaded what the formula has. */
  @FunctionalInterface
  interface Conversion {
    /** A register with the value. */
    String of(Value value, String loaded);
  }

  private record Pattern(Value value, ElementType type) {}

  private final PtxText text;
  private final Narrowing narrowing;
  private final Numbers numbers;

  /** Has the values of the row; null for those of the row themselves. */
  private final ValueCode ofRow;

  /** The elements at the index of these values. */
  private final Elements elements;

  /** The elements at index 0. */
  private final Elements first;

  private final Conversion conversion;

  private final Map<Value, String> known = new HashMap<>();
  private final Map<Pattern, String> patterns = new HashMap<>();
  private boolean closed;

  private ValueCode(
      PtxText text,
      Numbers numbers,
      ValueCode ofRow,
      Elements elements,
      Elements first,
      Conversion conversion) {
    this.text = text;
    this.numbers = numbers;
    this.ofRow = ofRow;
    this.elements = elements;
    this.first = first;
    this.conversion = conversion;
    narrowing = new Narrowing(text);
  }

  /** Values of a row. They hold until a number of the row changes. */
  static ValueCode ofRow(PtxText text, Numbers numbers, Elements first, Conversion conversion) {
    Elements none =
        value -> {
          throw new IllegalStateException(value.text() + " is of an element");
        };
    return new ValueCode(text, numbers, null, none, first, conversion);
  }

  /** Computes no more values: what follows may be skipped by a branch. */
  void close() {
    closed = true;
  }

  private void requireOpen(Value value) {
    if (closed) {
      throw new IllegalStateException(value.text() + " is computed too late, in one branch only");
    }
  }

  /** Values of one element. Those of the row that it needs are computed in the row's. */
  ValueCode ofElement(Elements elements) {
    return new ValueCode(text, numbers, this, elements, first, conversion);
  }

  /** The register of a value, or a constant. */
  String of(Value value) {
    if (value.kind() == Value.Kind.LITERAL) {
      return value.float64()
          ? PtxText.literal(value.number())
          : PtxText.literal((float) value.number());
    }
    if (ofRow != null && !value.perElement()) {
      return ofRow.of(value);
    }
    String register = known.get(value);
    if (register == null) {
      requireOpen(value);
      register = compute(value);
      known.put(value, register);
    }
    return register;
  }

  /** Adds a float64 term. A product that is exact may be fused: the bits are the same. */
  void addTo(String sum, Value term) {
    if (term.isExactProduct()) {
      text.put("fma.rn.f64", sum, of(term.a()), of(term.b()), sum);
    } else {
      text.put("add.rn.f64", sum, sum, of(term));
    }
  }

  private String compute(Value value) {
    return switch (value.kind()) {
      case ELEMENT, COLUMN -> conversion.of(value, elements.load(value));
      case ROW, CALL -> numbers.of(value.tensor());
      case FIRST -> new ValueCode(text, numbers, this, first, first, conversion).of(value.a());
      case WIDENED -> text.compute(Kind.F64, "cvt.f64.f32", of(value.a()));
      case ROUNDED -> text.compute(Kind.F32, "cvt.rn.f32.f64", of(value.a()));
      case CAST -> cast(value);
      case ONE_NAN -> oneNan(of(value.a()));
      case ROOT -> text.compute(Kind.F64, "sqrt.rn.f64", of(value.a()));
      case PLUS -> arithmetic("add.rn.", value);
      case MINUS -> arithmetic("sub.rn.", value);
      case TIMES -> arithmetic("mul.rn.", value);
      case OVER -> arithmetic("div.rn.", value);
      case MAX -> extreme("gt.", "and.", value);
      case MIN -> extreme("lt.", "or.", value);
      case FMA ->
          text.compute(
              kind(value), "fma.rn." + type(value), of(value.a()), of(value.b()), of(value.c()));
      case POWER -> power(value);
      case ABOVE -> choice("gt.f64", value.operands());
      case AT_LEAST -> choice("ge.f64", value.operands());
      case LITERAL -> throw new IllegalStateException("a constant needs no register");
    };
  }

  private String oneNan(String number) {
    String nan = text.test("nan.f32", number, number);
    return text.compute(Kind.F32, "selp.f32", PtxText.literal(Float.NaN), number, nan);
  }

  private static String type(Value value) {
    return value.float64() ? "f64" : "f32";
  }

  private static Kind kind(Value value) {
    return value.float64() ? Kind.F64 : Kind.F32;
  }

  private String arithmetic(String operation, Value value) {
    return text.compute(kind(value), operation + type(value), of(value.a()), of(value.b()));
  }

  private String choice(String comparison, List<Value> of) {
    String holds = text.test(comparison, of(of.get(0)), of(of.get(1)));
    return text.compute(Kind.F64, "selp.f64", of(of.get(2)), of(of.get(3)), holds);
  }

  /** As in Java: NaN if either is, and +0 is greater than -0. The instructions differ in both. */
  private String extreme(String comparison, String zeros, Value value) {
    String a = of(value.a());
    String b = of(value.b());
    String type = type(value);
    String selected = text.test(comparison + type, a, b);
    String result = text.compute(kind(value), "selp." + type, a, b, selected);
    String nan = text.test("nan." + type, a, a);
    text.put("selp." + type, result, a, result, nan);
    if (mayTieZeros(value)) {
      // Equal numbers have the same bits, except zeros.
      Kind bits = value.float64() ? Kind.B64 : Kind.B32;
      String ofBits = value.float64() ? "b64" : "b32";
      String x = text.compute(bits, "mov." + ofBits, a);
      boolean isConstant = value.b().kind() == Value.Kind.LITERAL;
      String held = isConstant ? text.compute(kind(value), "mov." + type, b) : b;
      String y = text.compute(bits, "mov." + ofBits, held);
      text.put(zeros + ofBits, x, x, y);
      String both = text.compute(kind(value), "mov." + ofBits, x);
      String equal = text.test("eq." + type, a, b);
      text.put("selp." + type, result, both, result, equal);
    }
    return result;
  }

  /** Whether the second operand may be a zero that loses against the other zero. */
  private static boolean mayTieZeros(Value extreme) {
    Value b = extreme.b();
    if (b.kind() != Value.Kind.LITERAL) {
      return true;
    }
    boolean negative = Double.doubleToRawLongBits(b.number()) < 0;
    return b.number() == 0 && negative == (extreme.kind() == Value.Kind.MAX);
  }

  /** The last bits of the operand become the exponent. */
  private String power(Value value) {
    boolean float64 = value.float64();
    Kind bits = float64 ? Kind.B64 : Kind.B32;
    String ofBits = float64 ? "b64" : "b32";
    String x = text.compute(bits, "mov." + ofBits, of(value.a()));
    text.put(
        "shl." + ofBits, x, x, Integer.toString(float64 ? Power.DOUBLE_BITS : Power.FLOAT_BITS));
    String one =
        float64
            ? "0x" + Long.toHexString(Power.DOUBLE_ONE)
            : "0x" + Integer.toHexString(Power.FLOAT_ONE);
    text.put(float64 ? "add.u64" : "add.u32", x, x, one);
    return text.compute(kind(value), "mov." + ofBits, x);
  }

  private String cast(Value value) {
    String single = narrowing.widened(pattern(value.a(), value.type()), value.type());
    return value.float64() ? text.compute(Kind.F64, "cvt.f64.f32", single) : single;
  }

  /** The pattern of a value rounded once to a type of 16 bits, in the low half of 32 bits. */
  String pattern(Value value, ElementType to) {
    boolean isCast = value.kind() == Value.Kind.CAST && value.type() == to;
    Value exact = isCast || value.kind() == Value.Kind.ONE_NAN ? value.a() : value;
    if (ofRow != null && !exact.perElement()) {
      return ofRow.pattern(exact, to);
    }
    Pattern pattern = new Pattern(exact, to);
    String register = patterns.get(pattern);
    if (register == null) {
      requireOpen(value);
      register = narrowing.pattern(of(exact), exact.float64(), to);
      patterns.put(pattern, register);
    }
    return register;
  }

  /**
   * A value as it is stored: of the compute type or a pattern of 16 bits.
   *
   * @param stored the type that the stage rounds to
   * @param inMemory the type of the rows, which may be another one
   */
  String stored(Value value, ElementType stored, ElementType inMemory) {
    if (inMemory.bytes() == Short.BYTES) {
      return pattern(value, inMemory);
    }
    String number = of(value);
    boolean float64 = value.float64();
    if (float64 && (stored == ElementType.FLOAT32 || inMemory == ElementType.FLOAT32)) {
      number = text.compute(Kind.F32, "cvt.rn.f32.f64", number);
      float64 = false;
    }
    return inMemory == ElementType.FLOAT64 && !float64
        ? text.compute(Kind.F64, "cvt.f64.f32", number)
        : number;
  }
}
