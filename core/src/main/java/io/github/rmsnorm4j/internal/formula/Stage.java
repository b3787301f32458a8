package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The description of one pass over rows: what is summed over a row, stored for each element, added
 * up over rows, or kept for each row. A stage says what is computed and where it is rounded. Other
 * classes decide how.
 *
 * <p>The constructor checks the rules of docs/numerics.md. A stage has at most two row sums, each
 * of one float64 term per element. A kept number is one for the row. A stage of elements keeps its
 * numbers first, and may read them again; a stage of rows reads none that it keeps. Only stages of
 * rows have ranges. One rule is not checked: a stage does not read again what it stores.
 */
public final class Stage {
  /** The most row sums of a stage: kernels have lanes for so many. */
  public static final int MAX_SUMS = 2;

  /** One statement of a stage. */
  public sealed interface Statement {
    Value value();

    /** Whether it is executed for each element, even if its value is one for the row. */
    default boolean isOfElements() {
      return this instanceof Sum || this instanceof Store || this instanceof ColumnSum;
    }
  }

  /** The row sum of a term, in the order of docs/numerics.md. */
  public record Sum(Tensor number, Value value) implements Statement {}

  /** Stores element i of rows of a type; a float32 or float64 is rounded once. */
  public record Store(Tensor rows, ElementType type, Value value) implements Statement {}

  /** Adds a term to the number of the column, row after row. */
  public record ColumnSum(Tensor column, Value value) implements Statement {}

  /** Keeps a per-row scalar. */
  public record Keep(Tensor number, Value value) implements Statement {}

  /** A row is out of range if its value is below the least or above the greatest, or NaN. */
  public record Range(Value value, double least, double greatest) implements Statement {
    /** Whether all of the first n numbers are in the range. */
    public boolean holds(double[] numbers, int n) {
      boolean holds = true;
      for (int i = 0; i < n; i++) {
        holds &= numbers[i] >= least && numbers[i] <= greatest;
      }
      return holds;
    }
  }

  private final List<Statement> statements;

  /** Every value once, except those of the row's first element alone; operands come first. */
  private final List<Value> values;

  private final List<Sum> sums;
  private final List<ColumnSum> columnSums;
  private final boolean hasElements;
  private final TreeMap<Tensor, ElementType> read = new TreeMap<>();
  private final TreeMap<Tensor, ElementType> written = new TreeMap<>();

  /**
   * Checks the rules.
   *
   * @param statements in the order in which they are executed
   */
  public Stage(List<Statement> statements) {
    this.statements = List.copyOf(statements);
    sums = ofType(Sum.class);
    columnSums = ofType(ColumnSum.class);
    boolean hasElements = false;
    Set<Value> values = new LinkedHashSet<>();
    Set<Value> ofFirst = new HashSet<>();
    for (Statement statement : statements) {
      require(statement);
      hasElements |= statement.isOfElements();
      add(statement.value(), values, ofFirst);
      if (statement instanceof Store store) {
        written.put(store.rows, store.type);
      } else if (statement instanceof ColumnSum sum) {
        written.put(sum.column, sum.value.computeType());
      }
    }
    this.hasElements = hasElements;
    this.values = List.copyOf(values);
    read(values);
    read(ofFirst);
    requireWhole();
  }

  private static void add(Value value, Set<Value> into, Set<Value> ofFirst) {
    if (into.contains(value)) {
      return;
    }
    for (Value operand : value.operands()) {
      add(operand, value.kind() == Value.Kind.FIRST ? ofFirst : into, ofFirst);
    }
    into.add(value);
  }

  private void read(Set<Value> values) {
    for (Value value : values) {
      if (value.kind() == Value.Kind.ELEMENT || value.kind() == Value.Kind.COLUMN) {
        read.put(value.tensor(), value.type());
      }
    }
  }

  private static void require(Statement statement) {
    Value value = statement.value();
    if (statement instanceof Sum) {
      require(value.float64() && value.perElement(), statement, "must be of float64 elements");
    } else if (statement instanceof Store store && store.type == ElementType.FLOAT64) {
      require(value.float64(), statement, "must be float64 as the rows are");
    } else if (statement instanceof Store store && store.type == ElementType.FLOAT16) {
      boolean oneNan = value.kind() == Value.Kind.ONE_NAN || value.kind() == Value.Kind.CAST;
      require(oneNan, statement, "may be any NaN, float16 rows have one");
    } else if (statement instanceof Keep || statement instanceof Range) {
      require(value.float64() && !value.perElement(), statement, "must be float64, one for a row");
    }
  }

  private void requireWhole() {
    if (sums.size() > MAX_SUMS || !sums.isEmpty() && !columnSums.isEmpty()) {
      throw new IllegalArgumentException(
          "a stage has " + MAX_SUMS + " row sums at most, and none together with sums of columns");
    }
    for (Statement statement : statements) {
      if (statement instanceof Range) {
        require(!hasElements, statement, "must be in a stage of rows to have a range");
      } else if (statement instanceof Keep keep && !hasElements) {
        for (Statement reader : statements) {
          require(!reads(reader.value(), keep.number), reader, "reads what its stage keeps");
        }
      }
    }
  }

  private static boolean reads(Value value, Tensor number) {
    Set<Value> used = new HashSet<>();
    add(value, used, used);
    return used.contains(Value.row(number));
  }

  private static void require(boolean condition, Statement statement, String message) {
    if (!condition) {
      throw new IllegalArgumentException(statement.value().text() + " " + message);
    }
  }

  /** Collects the statements of a stage. */
  public static final class Builder {
    private final List<Statement> statements = new ArrayList<>();

    /** Adds a statement. */
    public Builder add(Statement statement) {
      statements.add(statement);
      return this;
    }

    /** Adds the statements of a stage. */
    public Builder add(Stage stage) {
      statements.addAll(stage.statements);
      return this;
    }

    public Builder sum(Tensor number, Value term) {
      return add(
          number.access() == Tensor.Access.ROW
              ? new Sum(number, term)
              : new ColumnSum(number, term));
    }

    public Builder store(Tensor rows, ElementType type, Value value) {
      return add(new Store(rows, type, value));
    }

    public Builder keep(Tensor number, Value value) {
      return add(new Keep(number, value));
    }

    public Stage build() {
      return new Stage(statements);
    }
  }

  public List<Statement> statements() {
    return statements;
  }

  /**
   * The values that it computes, each once. Operands come before the value that uses them. What is
   * needed of the row's first element alone is not among them.
   */
  public List<Value> values() {
    return values;
  }

  /** The rows and columns that it reads or writes, with their types in memory. */
  public Map<Tensor, ElementType> tensors() {
    TreeMap<Tensor, ElementType> all = new TreeMap<>(read);
    all.putAll(written);
    return all;
  }

  /** The rows that it reads or writes, with their types in memory. */
  public Map<Tensor, ElementType> rows() {
    Map<Tensor, ElementType> rows = tensors();
    rows.keySet().removeIf(tensor -> tensor.access() != Tensor.Access.ELEMENT);
    return rows;
  }

  /** The rows and columns that it reads, with their types in memory. */
  public Map<Tensor, ElementType> read() {
    return read;
  }

  /** The rows that it stores and the columns that it adds to, with their types in memory. */
  public Map<Tensor, ElementType> written() {
    return written;
  }

  /** Whether any value that exists for each element is float64. */
  public boolean hasFloat64Elements() {
    for (Value value : values) {
      if (value.perElement() && value.float64()) {
        return true;
      }
    }
    return false;
  }

  /** Whether it computes a value of a kind. */
  public boolean has(Value.Kind kind) {
    for (Value value : values) {
      if (value.kind() == kind) {
        return true;
      }
    }
    return false;
  }

  /** Whether a row can be out of its range. */
  public boolean hasRanges() {
    for (Statement statement : statements) {
      if (statement instanceof Range) {
        return true;
      }
    }
    return false;
  }

  /** The largest values of a row that its elements need, apart from constants. */
  public Set<Value> rowValues() {
    return ofRow(false);
  }

  /** The constants that its elements need. */
  public Set<Value> literals() {
    return ofRow(true);
  }

  private Set<Value> ofRow(boolean literals) {
    Set<Value> found = new LinkedHashSet<>();
    Set<Value> seen = new HashSet<>();
    for (Statement statement : statements) {
      if (statement.isOfElements()) {
        collect(statement.value(), seen, found);
      }
    }
    found.removeIf(value -> literals != (value.kind() == Value.Kind.LITERAL));
    return found;
  }

  private static void collect(Value value, Set<Value> seen, Set<Value> into) {
    if (!value.perElement()) {
      into.add(value);
    } else if (seen.add(value)) {
      for (Value operand : value.operands()) {
        collect(operand, seen, into);
      }
    }
  }

  /** Its row sums, in order. */
  public List<Sum> sums() {
    return sums;
  }

  /** Its sums over rows, in order. */
  public List<ColumnSum> columnSums() {
    return columnSums;
  }

  private <S extends Statement> List<S> ofType(Class<S> type) {
    List<S> found = new ArrayList<>();
    for (Statement statement : statements) {
      if (type.isInstance(statement)) {
        found.add(type.cast(statement));
      }
    }
    return List.copyOf(found);
  }

  /** Whether any statement is for each element; otherwise numbers of rows are kept or checked. */
  public boolean hasElements() {
    return hasElements;
  }

  /** Whether it reads and writes numbers of rows alone, so that rows are its elements. */
  public boolean isOfRows() {
    return !hasElements && read.isEmpty();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Stage stage && statements.equals(stage.statements);
  }

  @Override
  public int hashCode() {
    return statements.hashCode();
  }

  /** One statement per line. */
  public String text() {
    StringBuilder text = new StringBuilder();
    for (Statement statement : statements) {
      String value = statement.value().text();
      text.append(
          switch (statement) {
            case Sum s -> s.number + " = rowsum(" + value + ")";
            case Store s -> s.rows + "[i] = " + value;
            case ColumnSum s -> s.column + "[i] += " + value;
            case Keep k -> k.number + " = " + value;
            case Range r -> value + " is from " + r.least + " to " + r.greatest;
          });
      text.append('\n');
    }
    return text.toString();
  }
}
