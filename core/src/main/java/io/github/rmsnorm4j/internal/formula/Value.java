package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A number in a formula, float32 or float64. It exists for each element, for each column, for each
 * row, or once for the call. Equal values are one object, so back ends compute each once.
 *
 * <p>Each operation is rounded once, to the type of its operands. All operands have the same type;
 * {@link #widened} and {@link #rounded} change it. Operands of two types are refused.
 */
public final class Value {
  /** What a value is: a number of a tensor, a constant, or an operation. */
  public enum Kind {
    /** Element i of rows, with its type in memory; 16-bit types are read as float32. */
    ELEMENT,
    /** The number of element i's column. */
    COLUMN,
    /** A per-row scalar. */
    ROW,
    /** A number of the call. */
    CALL,
    /** A constant. */
    LITERAL,
    /** The operand at element 0 of the row. */
    FIRST,
    /** A float32 as float64. */
    WIDENED,
    /** A float64 rounded to float32. */
    ROUNDED,
    /** Rounded once to a 16-bit type and converted back; every NaN is the canonical one. */
    CAST,
    /** A float32 as it is, except that every NaN becomes the canonical one. */
    ONE_NAN,
    /** The square root of a float64. */
    ROOT,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    MAX,
    MIN,
    /** The first of three numbers of one type times the second, plus the third, rounded once. */
    FMA,
    /**
     * Two to the power of k, where the operand is {@code 1.5 * 2^23 + k} as float32, or {@code 1.5
     * * 2^52 + k} as float64. k is within the exponents of the type; at one below them the result
     * is 0. For other operands the result is any number.
     */
    POWER,
    /** Of four float64 the third if the first is above the second, otherwise the fourth. */
    ABOVE,
    /** Of four float64 the third if the first is at least the second, otherwise the fourth. */
    AT_LEAST;

    /** Whether it has two operands of one type, to which its result is rounded. */
    public boolean isBinary() {
      return this == PLUS
          || this == MINUS
          || this == TIMES
          || this == OVER
          || this == MAX
          || this == MIN;
    }
  }

  /** What makes two values one. The operands are interned, so they are compared as objects. */
  private record Key(
      Kind kind,
      @Nullable Tensor tensor,
      @Nullable ElementType type,
      double number,
      List<Value> operands) {}

  private static final ConcurrentHashMap<Key, Value> ALL = new ConcurrentHashMap<>();

  private final Key key;
  private final boolean float64;
  private final boolean perElement;

  private Value(Key key) {
    this.key = key;
    boolean ofElements = key.kind == Kind.ELEMENT || key.kind == Kind.COLUMN;
    for (Value operand : key.operands) {
      ofElements |= operand.perElement && key.kind != Kind.FIRST;
    }
    perElement = ofElements;
    float64 =
        switch (key.kind) {
          case ELEMENT, COLUMN -> key.type == ElementType.FLOAT64;
          case LITERAL -> key.type != ElementType.FLOAT32;
          case ROW, CALL, WIDENED -> true;
          case ROUNDED -> false;
          default -> key.operands.getFirst().float64;
        };
  }

  private static Value of(
      Kind kind,
      @Nullable Tensor tensor,
      @Nullable ElementType type,
      double number,
      Value... operands) {
    Key key = new Key(kind, tensor, type, number, List.of(operands));
    Value known = ALL.get(key);
    if (known != null) {
      return known;
    }
    Value made = new Value(key);
    known = ALL.putIfAbsent(key, made);
    return known == null ? made : known;
  }

  private static Value of(Kind kind, Value... operands) {
    return of(kind, null, null, 0, operands);
  }

  /** Element i of rows with a type in memory. */
  public static Value element(Tensor rows, ElementType type) {
    return of(Kind.ELEMENT, rows, type, 0);
  }

  /** The number of element i's column, float32 or float64. */
  public static Value column(Tensor column, boolean float64) {
    return of(Kind.COLUMN, column, float64 ? ElementType.FLOAT64 : ElementType.FLOAT32, 0);
  }

  /** A per-row scalar. */
  public static Value row(Tensor number) {
    return of(Kind.ROW, number, null, 0);
  }

  /** A number of the call. */
  public static Value call(Tensor number) {
    return of(Kind.CALL, number, null, 0);
  }

  /** A float64 constant. */
  public static Value literal(double number) {
    return of(Kind.LITERAL, null, null, number);
  }

  /** A float32 constant. */
  public static Value floatLiteral(float number) {
    return of(Kind.LITERAL, null, ElementType.FLOAT32, number);
  }

  /** A constant that is float64 or, rounded, float32. */
  static Value literal(double number, boolean float64) {
    return float64 ? literal(number) : floatLiteral((float) number);
  }

  public Kind kind() {
    return key.kind;
  }

  /** The tensor of a number that is read; other values have none. */
  public Tensor tensor() {
    if (key.tensor == null) {
      throw new IllegalStateException(key.kind + " has no tensor");
    }
    return key.tensor;
  }

  /** The type in memory of an element, what a cast rounds to, FLOAT32 for a float32 constant. */
  public ElementType type() {
    if (key.type == null) {
      throw new IllegalStateException(key.kind + " has no type of its own");
    }
    return key.type;
  }

  /** The number of a constant. */
  public double number() {
    return key.number;
  }

  public List<Value> operands() {
    return key.operands;
  }

  /** The first operand. */
  public Value a() {
    return key.operands.get(0);
  }

  /** The second operand. */
  public Value b() {
    return key.operands.get(1);
  }

  /** The third operand. */
  public Value c() {
    return key.operands.get(2);
  }

  /** Whether it is float64, and not float32. */
  public boolean float64() {
    return float64;
  }

  /** Float64 or float32, as it is. */
  public ElementType computeType() {
    return float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** Whether it exists for each element; otherwise there is one for the row. */
  public boolean perElement() {
    return perElement;
  }

  /** The value at element 0 of the row. */
  public Value first() {
    return of(Kind.FIRST, this);
  }

  public Value plus(Value b) {
    return binary(Kind.PLUS, b);
  }

  public Value minus(Value b) {
    return binary(Kind.MINUS, b);
  }

  public Value times(Value b) {
    return binary(Kind.TIMES, b);
  }

  public Value over(Value b) {
    return binary(Kind.OVER, b);
  }

  public Value max(Value b) {
    return binary(Kind.MAX, b);
  }

  public Value min(Value b) {
    return binary(Kind.MIN, b);
  }

  /** This times a second number, plus a third one, rounded once: nothing in between. */
  public Value fma(Value b, Value c) {
    require(float64 == b.float64 && float64 == c.float64, "and the others are not of one type");
    return of(Kind.FMA, this, b, c);
  }

  /** Two to the power of this less {@code 1.5 * 2^23}, or {@code 1.5 * 2^52} of a float64. */
  public Value power() {
    return of(Kind.POWER, this);
  }

  /** An operation on this and another value of the same type. */
  public Value binary(Kind operation, Value b) {
    require(float64 == b.float64, "and the other are not of one type");
    return of(operation, this, b);
  }

  /** The square root of a float64. */
  public Value root() {
    require(float64, "is float32, a root is of float64 only");
    return of(Kind.ROOT, this);
  }

  /** One value if this is above another one, otherwise a second one; all are float64. */
  public Value above(Value b, Value then, Value otherwise) {
    return choice(Kind.ABOVE, b, then, otherwise);
  }

  /** One value if this is at least another one, otherwise a second one; all are float64. */
  public Value atLeast(Value b, Value then, Value otherwise) {
    return choice(Kind.AT_LEAST, b, then, otherwise);
  }

  private Value choice(Kind kind, Value b, Value then, Value otherwise) {
    boolean same = float64 && b.float64 && then.float64 && otherwise.float64;
    require(same, "or what it chooses is float32, a choice is of float64 only");
    return of(kind, this, b, then, otherwise);
  }

  /** As float64; no change if it is float64. */
  public Value widened() {
    return float64 ? this : of(Kind.WIDENED, this);
  }

  /** As float32. */
  public Value rounded() {
    return float64 ? of(Kind.ROUNDED, this) : this;
  }

  /** Rounded to a 16-bit type; null and other types change nothing. */
  public Value cast(@Nullable ElementType to) {
    return to == null || to.bytes() != Short.BYTES ? this : of(Kind.CAST, null, to, 0, this);
  }

  /** A float32 as it is, except that every NaN becomes the canonical one. */
  public Value oneNan() {
    require(!float64, "is float64, NaN is made one of float32 only");
    return of(Kind.ONE_NAN, this);
  }

  /**
   * Whether it may be fused with the addition of it: the product of two widened float32 is exact in
   * float64. Other products are not.
   */
  public boolean isExactProduct() {
    return kind() == Kind.TIMES && a().kind() == Kind.WIDENED && b().kind() == Kind.WIDENED;
  }

  private void require(boolean condition, String message) {
    if (!condition) {
      throw new IllegalArgumentException(text() + " " + message);
    }
  }

  /** The formula as text. */
  public String text() {
    return switch (key.kind) {
      case ELEMENT, COLUMN -> key.tensor + "[i]";
      case ROW, CALL -> tensor().name();
      case LITERAL -> float64 ? Double.toString(key.number) : (float) key.number + "f";
      case FIRST -> a().text().replace("[i]", "[0]");
      case WIDENED -> "(double) " + a().text();
      case ROUNDED -> "(float) " + a().text();
      case CAST -> "(" + key.type + ") " + a().text();
      case ONE_NAN -> "oneNaN(" + a().text() + ")";
      case ROOT -> "sqrt(" + a().text() + ")";
      case POWER -> "power(" + a().text() + ")";
      case PLUS -> binary(" + ");
      case MINUS -> binary(" - ");
      case TIMES -> binary(" * ");
      case OVER -> binary(" / ");
      case MAX -> "max(" + a().text() + ", " + b().text() + ")";
      case MIN -> "min(" + a().text() + ", " + b().text() + ")";
      case FMA -> "fma(" + a().text() + ", " + b().text() + ", " + c().text() + ")";
      case ABOVE -> choice(" > ");
      case AT_LEAST -> choice(" >= ");
    };
  }

  private String binary(String sign) {
    return "(" + a().text() + sign + b().text() + ")";
  }

  private String choice(String sign) {
    String condition = a().text() + sign + b().text();
    String then = key.operands.get(2).text();
    return "(" + condition + " ? " + then + " : " + key.operands.get(3).text() + ")";
  }

  @Override
  public String toString() {
    return text();
  }
}
