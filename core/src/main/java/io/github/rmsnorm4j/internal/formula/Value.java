package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;

/**
 * A number in a formula, float32 or float64. There is one for each element, for each column, for
 * each row, or for the whole call. Equal values are one value: what is described twice is computed
 * once.
 *
 * <p>Each operation is rounded once, to the type of its operands. Operands have one type; {@link
 * #widened} and {@link #rounded} change it. What is made here in another way is refused.
 */
public sealed interface Value {
  /** What is done with two numbers. */
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

  /** Element i of rows, of a type as it lies in memory: bfloat16 is read as float32. */
  record Element(Operand rows, ElementType type) implements Value {}

  /** The value at element 0 of the row. */
  record First(Value of) implements Value {}

  /** The number of element i's column. */
  record OfColumn(Column column, boolean float64) implements Value {}

  /** The number of the row. */
  record OfRow(RowNumber number) implements Value {}

  /** The number of the call. */
  record OfCall(CallNumber number) implements Value {}

  /** A constant. */
  record Literal(double number) implements Value {}

  /** A float32 as float64. */
  record Widened(Value of) implements Value {}

  /** A float64 rounded to float32. */
  record Rounded(Value of) implements Value {}

  /** Rounded once to a type of 16 bits, and read again; every NaN is the canonical one. */
  record Cast(Value of, ElementType to) implements Value {}

  /** The same, but that every NaN is the canonical one. */
  record OneNan(Value of) implements Value {
    public OneNan {
      require(!of.float64(), "NaN is made one of float32 only");
    }
  }

  /** Two numbers of one type, the result rounded to it. */
  record Binary(Operator operator, Value a, Value b) implements Value {
    public Binary {
      if (a.float64() != b.float64()) {
        throw new IllegalArgumentException(
            "(" + a + " " + operator.sign + " " + b + ") mixes float32 and float64");
      }
    }
  }

  /** The square root of a float64. */
  record Root(Value of) implements Value {
    public Root {
      require(of.float64(), "the root of " + of + " is float32, it must be float64");
    }
  }

  /** One value where a float64 is above another, or at least it; otherwise a second value. */
  record Choice(Value a, boolean orEqual, Value b, Value then, Value otherwise) implements Value {
    public Choice {
      boolean same = a.float64() && b.float64() && then.float64() && otherwise.float64();
      require(same, "a choice is of float64 only");
    }
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new IllegalArgumentException(message);
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

  /** As float64; a float64 stays as it is. */
  default Value widened() {
    return float64() ? this : new Widened(this);
  }

  /** As float32. */
  default Value rounded() {
    return float64() ? new Rounded(this) : this;
  }

  /** Rounded to a type of 16 bits; null and other types change nothing. */
  default Value cast(ElementType to) {
    return to == null || to.bytes() != Short.BYTES ? this : new Cast(this, to);
  }

  default boolean float64() {
    return switch (this) {
      case Element e -> e.type == ElementType.FLOAT64;
      case First f -> f.of.float64();
      case OfColumn c -> c.float64;
      case OfRow r -> true;
      case OfCall c -> true;
      case Literal l -> true;
      case Widened w -> true;
      case Rounded r -> false;
      case Cast c -> c.of.float64();
      case OneNan n -> false;
      case Binary b -> b.a.float64();
      case Root r -> true;
      case Choice c -> true;
    };
  }

  /** Whether there is one for each element; otherwise one does for the row. */
  default boolean perElement() {
    return switch (this) {
      case Element e -> true;
      case OfColumn c -> true;
      case First f -> false;
      case OfRow r -> false;
      case OfCall c -> false;
      case Literal l -> false;
      case Widened w -> w.of.perElement();
      case Rounded r -> r.of.perElement();
      case Cast c -> c.of.perElement();
      case OneNan n -> n.of.perElement();
      case Binary b -> b.a.perElement() || b.b.perElement();
      case Root r -> r.of.perElement();
      case Choice c ->
          c.a.perElement() || c.b.perElement() || c.then.perElement() || c.otherwise.perElement();
    };
  }

  /** What it is made of directly. */
  default Value[] parts() {
    return switch (this) {
      case First f -> new Value[] {f.of};
      case Widened w -> new Value[] {w.of};
      case Rounded r -> new Value[] {r.of};
      case Cast c -> new Value[] {c.of};
      case OneNan n -> new Value[] {n.of};
      case Binary b -> new Value[] {b.a, b.b};
      case Root r -> new Value[] {r.of};
      case Choice c -> new Value[] {c.a, c.b, c.then, c.otherwise};
      default -> new Value[0];
    };
  }

  /**
   * Whether adding it may be fused with it: a product of two widened float32 is exact in float64,
   * and no other product is.
   */
  default boolean isExactProduct() {
    return this instanceof Binary(Operator operator, Value a, Value b)
        && operator == Operator.TIMES
        && a instanceof Widened
        && b instanceof Widened;
  }

  /** As one would write it. */
  default String text() {
    return switch (this) {
      case Element e -> e.rows + "[i]";
      case First f -> f.of.text().replace("[i]", "[0]");
      case OfColumn c -> c.column + "[i]";
      case OfRow r -> r.number.toString();
      case OfCall c -> c.number.toString();
      case Literal l -> Double.toString(l.number);
      case Widened w -> "(double) " + w.of.text();
      case Rounded r -> "(float) " + r.of.text();
      case Cast c -> "(" + c.to.toString().toLowerCase(java.util.Locale.ROOT) + ") " + c.of.text();
      case OneNan n -> "oneNaN(" + n.of.text() + ")";
      case Binary b ->
          b.operator == Operator.MAX
              ? "max(" + b.a.text() + ", " + b.b.text() + ")"
              : "(" + b.a.text() + " " + b.operator.sign + " " + b.b.text() + ")";
      case Root r -> "sqrt(" + r.of.text() + ")";
      case Choice c ->
          "("
              + c.a.text()
              + (c.orEqual ? " >= " : " > ")
              + c.b.text()
              + " ? "
              + c.then.text()
              + " : "
              + c.otherwise.text()
              + ")";
    };
  }
}
