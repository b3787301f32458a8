package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.EnumMap;
import java.util.Map;

/** The arrays with the numbers of columns that a part reads or adds to, as locals. */
final class ColumnArrays {
  private ColumnArrays() {}

  static Map<Column, Integer> load(Code code, Place place) {
    Map<Column, Integer> arrays = new EnumMap<>(Column.class);
    for (Part.Statement statement : place.part().statements()) {
      load(code, place, statement.value(), arrays);
      if (statement instanceof Part.ColumnSum sum) {
        load(code, place, sum.column(), sum.value().float64(), arrays);
      }
    }
    return arrays;
  }

  /**
   * The columns of a step.
   *
   * @param at a local: the first element of the step, counted from the first element of the call
   */
  static Elements.Columns addresses(Code code, Place place, Map<Column, Integer> arrays, int at) {
    if (arrays.isEmpty()) {
      return (column, from) -> {};
    }
    code.field(place.frame(), "column", CD_int);
    code.c.iload(ElementLoop.FROM).iadd().iload(at).iadd();
    if (place.paired()) {
      code.call(RowSum.class, "evenFirst", CD_int, CD_int);
    }
    int start = code.storeInt();
    return (column, from) -> code.load(arrays.get(column)).c.iload(start).loadConstant(from).iadd();
  }

  private static void load(Code code, Place place, Value value, Map<Column, Integer> arrays) {
    if (value instanceof Value.OfColumn(Column column, boolean float64)) {
      load(code, place, column, float64, arrays);
    }
    for (Value part : value.parts()) {
      load(code, place, part, arrays);
    }
  }

  private static void load(
      Code code, Place place, Column column, boolean float64, Map<Column, Integer> arrays) {
    arrays.computeIfAbsent(
        column,
        k -> {
          code.line("%s = its array", column);
          code.element(place.frame(), "columns", CD_Object, column.ordinal());
          code.c.checkcast((float64 ? CD_double : CD_float).arrayType());
          return code.store();
        });
  }
}
