package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The description of one pass over rows: what is summed over a row, stored for each element, added
 * up over rows, or kept for each row. A part says what is computed and where it is rounded. Other
 * classes decide how.
 *
 * <p>The constructor checks the rules of docs/numerics.md. A part has at most two row sums, each of
 * one float64 term per element. A kept number is one for the row. A part of elements keeps its
 * numbers first, and may read them again; a part of rows reads none that it keeps. Only parts of
 * rows have ranges. One rule is not checked: a part does not read again what it stores.
 *
 * @param statements the statements in the order in which they are executed
 */
public record Part(List<Statement> statements) {
  /** The most row sums of a part: kernels have lanes for so many. */
  public static final int MAX_SUMS = 2;

  /** One statement of a part. */
  public sealed interface Statement {
    Value value();

    /** Whether it is executed for each element, even if its value is one for the row. */
    default boolean isOfElements() {
      return this instanceof Sum || this instanceof Store || this instanceof ColumnSum;
    }
  }

  /** The row sum of a term, in the order of docs/numerics.md. */
  public record Sum(RowNumber number, Value value) implements Statement {}

  /** Stores element i of rows of a type; a float32 or float64 is rounded once. */
  public record Store(Operand rows, ElementType type, Value value) implements Statement {}

  /** Adds a term to the number of the column, row after row. */
  public record ColumnSum(Column column, Value value) implements Statement {}

  /** Keeps a per-row scalar. */
  public record Keep(RowNumber number, Value value) implements Statement {}

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

  /** Checks the rules. */
  public Part(List<Statement> statements) {
    this.statements = List.copyOf(statements);
    for (Statement statement : statements) {
      Value value = statement.value();
      if (statement instanceof Sum) {
        require(value.float64() && value.perElement(), statement, "must be of float64 elements");
      } else if (statement instanceof Store store && store.type == ElementType.FLOAT64) {
        require(value.float64(), statement, "must be float64 as the rows are");
      } else if (statement instanceof Store store && store.type == ElementType.FLOAT16) {
        boolean oneNan = value instanceof Value.OneNan || value instanceof Value.Cast;
        require(oneNan, statement, "may be any NaN, float16 rows have one");
      } else if (statement instanceof Keep || statement instanceof Range) {
        require(
            value.float64() && !value.perElement(), statement, "must be float64, one for a row");
      }
    }
    requireWhole();
  }

  private void requireWhole() {
    if (sums().size() > MAX_SUMS || !sums().isEmpty() && !columnSums().isEmpty()) {
      throw new IllegalArgumentException(
          "a part has " + MAX_SUMS + " row sums at most, and none together with sums of columns");
    }
    boolean elements = hasElements();
    for (Statement statement : statements) {
      if (statement instanceof Range) {
        require(!elements, statement, "must be in a part of rows to have a range");
      } else if (statement instanceof Keep keep && !elements) {
        for (Statement reader : statements) {
          require(!reads(reader.value(), keep.number), reader, "reads what its part keeps");
        }
      }
    }
  }

  private static boolean reads(Value value, RowNumber number) {
    if (value instanceof Value.OfRow row) {
      return row.number() == number;
    }
    for (Value part : value.parts()) {
      if (reads(part, number)) {
        return true;
      }
    }
    return false;
  }

  private static void require(boolean condition, Statement statement, String message) {
    if (!condition) {
      throw new IllegalArgumentException(statement.value().text() + " " + message);
    }
  }

  /** Collects the statements of a part. */
  public static final class Builder {
    private final List<Statement> statements = new ArrayList<>();

    /** Adds a statement. */
    public Builder add(Statement statement) {
      statements.add(statement);
      return this;
    }

    /** Adds the statements of a part. */
    public Builder add(Part part) {
      statements.addAll(part.statements);
      return this;
    }

    public Builder sum(RowNumber number, Value term) {
      return add(new Sum(number, term));
    }

    public Builder store(Operand rows, ElementType type, Value value) {
      return add(new Store(rows, type, value));
    }

    public Builder sum(Column column, Value term) {
      return add(new ColumnSum(column, term));
    }

    public Builder keep(RowNumber number, Value value) {
      return add(new Keep(number, value));
    }

    public Part build() {
      return new Part(statements);
    }
  }

  /** The rows that it reads or writes, with their types in memory. */
  public Map<Operand, ElementType> operands() {
    Map<Operand, ElementType> operands = operandsRead();
    operands.putAll(operandsWritten());
    return operands;
  }

  /** The rows that it reads. */
  public Map<Operand, ElementType> operandsRead() {
    Map<Operand, ElementType> operands = new EnumMap<>(Operand.class);
    for (Statement statement : statements) {
      add(statement.value(), operands);
    }
    return operands;
  }

  /** The rows that it writes. */
  public Map<Operand, ElementType> operandsWritten() {
    Map<Operand, ElementType> operands = new EnumMap<>(Operand.class);
    for (Store store : ofType(Store.class)) {
      operands.put(store.rows, store.type);
    }
    return operands;
  }

  private static void add(Value value, Map<Operand, ElementType> operands) {
    if (value instanceof Value.Element element) {
      operands.put(element.rows(), element.type());
    }
    for (Value part : value.parts()) {
      add(part, operands);
    }
  }

  /** The columns whose numbers it reads or adds to, with their types. */
  public Map<Column, ElementType> columns() {
    Map<Column, ElementType> columns = columnsWritten();
    for (Statement statement : statements) {
      addColumns(statement.value(), columns);
    }
    return columns;
  }

  /** The columns to whose numbers it adds. */
  public Map<Column, ElementType> columnsWritten() {
    Map<Column, ElementType> columns = new EnumMap<>(Column.class);
    for (ColumnSum sum : columnSums()) {
      columns.put(sum.column, type(sum.value));
    }
    return columns;
  }

  private static void addColumns(Value value, Map<Column, ElementType> columns) {
    if (value instanceof Value.OfColumn column) {
      columns.put(column.column(), type(value));
    }
    for (Value part : value.parts()) {
      addColumns(part, columns);
    }
  }

  private static ElementType type(Value value) {
    return value.float64() ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** Whether any value that exists for each element is float64. */
  public boolean hasFloat64Elements() {
    for (Statement statement : statements) {
      if (hasFloat64(statement.value())) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasFloat64(Value value) {
    if (!value.perElement()) {
      return false;
    }
    boolean any = value.float64();
    for (Value part : value.parts()) {
      any |= hasFloat64(part);
    }
    return any;
  }

  /** The largest values of a row that its elements need. */
  public Set<Value> rowValues() {
    Set<Value> values = new LinkedHashSet<>();
    for (Statement statement : statements) {
      if (statement.isOfElements()) {
        collect(statement.value(), values);
      }
    }
    return values;
  }

  private static void collect(Value value, Set<Value> into) {
    if (!value.perElement()) {
      into.add(value);
      return;
    }
    for (Value part : value.parts()) {
      collect(part, into);
    }
  }

  /** Its row sums, in order. */
  public List<Sum> sums() {
    return ofType(Sum.class);
  }

  /** Its sums over rows, in order. */
  public List<ColumnSum> columnSums() {
    return ofType(ColumnSum.class);
  }

  private <S extends Statement> List<S> ofType(Class<S> type) {
    List<S> found = new ArrayList<>();
    for (Statement statement : statements) {
      if (type.isInstance(statement)) {
        found.add(type.cast(statement));
      }
    }
    return found;
  }

  /** Whether any statement is for each element; otherwise numbers of rows are kept or checked. */
  public boolean hasElements() {
    for (Statement statement : statements) {
      if (statement.isOfElements()) {
        return true;
      }
    }
    return false;
  }

  /** Whether it reads and writes numbers of rows alone, so that rows are its elements. */
  public boolean isOfRows() {
    return !hasElements() && operands().isEmpty();
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
