package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.Map;
import java.util.TreeMap;

/** The arrays with the numbers of columns that a part reads or adds to, as locals. */
final class ColumnArrays {
  private ColumnArrays() {}

  static Map<Tensor, Integer> load(Code code, Place place) {
    Map<Tensor, Integer> arrays = new TreeMap<>();
    place
        .part()
        .tensors()
        .forEach(
            (tensor, type) -> {
              if (tensor.access() == Tensor.Access.COLUMN) {
                code.line("%s = its array", tensor);
                code.element(place.frame(), "columns", CD_Object, tensor.place());
                boolean float64 = type == ElementType.FLOAT64;
                code.c.checkcast((float64 ? CD_double : CD_float).arrayType());
                arrays.put(tensor, code.store());
              }
            });
    return arrays;
  }

  /**
   * The columns of a step.
   *
   * @param at a local: the first element of the step, counted from the first element of the call
   */
  static Elements.Columns addresses(Code code, Place place, Map<Tensor, Integer> arrays, int at) {
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
}
