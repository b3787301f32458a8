package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;

/**
 * A number in a formula, float32 or float64. It exists for each element, for each column, for each
 * row, or once for the call. A kernel with vectors computes equal values once; plain Java does so
 * with values that are one object.
 *
 * <p>Each operation is rounded once, to the type of its operands. Both operands have the same type;
 * {@link #widened} and {@link #rounded} change it. Operands of two types are refused.
 */
public sealed interface Value {
  /** An operation on two numbers. */
  enum Operator {
    PLUS("+"),
    MINUS("-"),
    TIMES("*"),
    OVER("/"),
    MAX("max");

    private final String sign;

    Operator(String sign) {
      this.sign = sign;
    }
  }

  /** Element i of rows, with its type in memory; bfloat16 is read as float32. */
  record Element(Operand rows, ElementType type) implements Leaf {
    @Override
    public boolean float64() {
      return type == ElementType.FLOAT64;
    }

    @Override
    public boolean perElement() {
      return true;
    }

    @Override
    public String text() {
      return rows + "[i]";
    }
  }

  /** The value at element 0 of the row. */
  record First(Value of) implements Operation {
    @Override
    public boolean perElement() {
      return false;
    }

    @Override
    public String text() {
      return of.text().replace("[i]", "[0]");
    }
  }

  /** The number of element i's column. */
  record OfColumn(Column column, boolean float64) implements Leaf {
    @Override
    public boolean perElement() {
      return true;
    }

    @Override
    public String text() {
      return column + "[i]";
    }
  }

  /** A per-row scalar. */
  record OfRow(RowNumber number) implements Leaf {
    @Override
    public String text() {
      return number.toString();
    }
  }

  /** The number of the call. */
  record OfCall(CallNumber number) implements Leaf {
    @Override
    public String text() {
      return number.toString();
    }
  }

  /** A constant. */
  record Literal(double number) implements Leaf {
    @Override
    public String text() {
      return Double.toString(number);
    }
  }

  /** A float32 as float64. */
  record Widened(Value of) implements Operation {
    @Override
    public boolean float64() {
      return true;
    }

    @Override
    public String text() {
      return "(double) " + of.text();
    }
  }

  /** A float64 rounded to float32. */
  record Rounded(Value of) implements Operation {
    @Override
    public boolean float64() {
      return false;
    }

    @Override
    public String text() {
      return "(float) " + of.text();
    }
  }

  /** Rounded once to a 16-bit type and converted back; every NaN is the canonical one. */
  record Cast(Value of, ElementType to) implements Operation {
    @Override
    public String text() {
      return "(" + to + ") " + of.text();
    }
  }

  /** A float32 as it is, except that every NaN becomes the canonical one. */
  record OneNan(Value of) implements Operation {
    public OneNan {
      require(!of.float64(), of, "is float64, NaN is made one of float32 only");
    }

    @Override
    public String text() {
      return "oneNaN(" + of.text() + ")";
    }
  }

  /** Two numbers of one type, the result rounded to it. */
  record Binary(Operator operator, Value a, Value b) implements Operation {
    public Binary {
      require(a.float64() == b.float64(), a, "and the other are not of one type");
    }

    @Override
    public Value of() {
      return a;
    }

    @Override
    public Value[] parts() {
      return new Value[] {a, b};
    }

    @Override
    public String text() {
      return operator == Operator.MAX
          ? "max(" + a.text() + ", " + b.text() + ")"
          : "(" + a.text() + " " + operator.sign + " " + b.text() + ")";
    }
  }

  /** The square root of a float64. */
  record Root(Value of) implements Operation {
    public Root {
      require(of.float64(), of, "is float32, a root is of float64 only");
    }

    @Override
    public String text() {
      return "sqrt(" + of.text() + ")";
    }
  }

  /** One value if a float64 is above another (or at least as large), otherwise a second one. */
  record Choice(Value a, boolean orEqual, Value b, Value then, Value otherwise)
      implements Operation {
    public Choice {
      boolean same = a.float64() && b.float64() && then.float64() && otherwise.float64();
      require(same, a, "or what it chooses is float32, a choice is of float64 only");
    }

    @Override
    public Value of() {
      return a;
    }

    @Override
    public Value[] parts() {
      return new Value[] {a, b, then, otherwise};
    }

    @Override
    public String text() {
      String sign = orEqual ? " >= " : " > ";
      String condition = a.text() + sign + b.text();
      return "(" + condition + " ? " + then.text() + " : " + otherwise.text() + ")";
    }
  }

  /** A value without operands. */
  sealed interface Leaf extends Value {
    @Override
    default boolean float64() {
      return true;
    }

    @Override
    default boolean perElement() {
      return false;
    }

    @Override
    default Value[] parts() {
      return new Value[0];
    }
  }

  /** A value with operands, most often one, and with its type. */
  sealed interface Operation extends Value {
    /** The first operand. */
    Value of();

    @Override
    default boolean float64() {
      return of().float64();
    }

    @Override
    default boolean perElement() {
      for (Value part : parts()) {
        if (part.perElement()) {
          return true;
        }
      }
      return false;
    }

    @Override
    default Value[] parts() {
      return new Value[] {of()};
    }
  }

  /** Whether it is float64, and not float32. */
  boolean float64();

  /** Whether it exists for each element; otherwise there is one for the row. */
  boolean perElement();

  /** Its operands. */
  Value[] parts();

  /** The formula as text. */
  String text();

  private static void require(boolean condition, Value value, String message) {
    if (!condition) {
      throw new IllegalArgumentException(value.text() + " " + message);
    }
  }

  default Value plus(Value b) {
    return new Binary(Operator.PLUS, this, b);
  }

  default Value minus(Value b) {
    return new Binary(Operator.MINUS, this, b);
  }

  default Value times(Value b) {
    return new Binary(Operator.TIMES, this, b);
  }

  default Value over(Value b) {
    return new Binary(Operator.OVER, this, b);
  }

  default Value max(Value b) {
    return new Binary(Operator.MAX, this, b);
  }

  default Value root() {
    return new Root(this);
  }

  /** As float64; no change if it is float64. */
  default Value widened() {
    return float64() ? this : new Widened(this);
  }

  /** As float32. */
  default Value rounded() {
    return float64() ? new Rounded(this) : this;
  }

  /** Rounded to a 16-bit type; null and other types change nothing. */
  default Value cast(ElementType to) {
    return to == null || to.bytes() != Short.BYTES ? this : new Cast(this, to);
  }

  /**
   * Whether it may be fused with the addition of it: the product of two widened float32 is exact in
   * float64. Other products are not.
   */
  default boolean isExactProduct() {
    return this instanceof Binary(Operator operator, Value a, Value b)
        && operator == Operator.TIMES
        && a instanceof Widened
        && b instanceof Widened;
  }
}
