package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;

import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.util.List;

/**
 * The values of each row that a stage broadcasts: computed once for all rows, and read again for
 * every few columns.
 */
final class RowTable {
  private final Code code;
  private final VectorCode vectors;
  private final Place place;
  private final List<Value> numbers;

  /** Locals: arrays. */
  private final int floats;

  private final int doubles;

  RowTable(Code code, VectorCode vectors, Place place) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    numbers = List.copyOf(place.stage().rowValues());
    if (numbers.size() > Frame.MAX_TABLES) {
      throw new IllegalArgumentException(numbers.size() + " per-row scalars in one stage");
    }
    code.field(ElementLoop.FRAME, "floats", CD_float.arrayType());
    floats = code.store();
    code.field(ElementLoop.FRAME, "doubles", CD_double.arrayType());
    doubles = code.store();
    code.loop("row", ElementLoop.ROW, ElementLoop.END, 1, this::fill);
  }

  private void fill(int row) {
    Scalars scalars = new Scalars(code, ElementLoop.FRAME, row, -1);
    for (int k = 0; k < numbers.size(); k++) {
      Value number = numbers.get(k);
      code.line("table %d = %s", k, number.text());
      address(k, row);
      scalars.push(number);
      code.c.arrayStore(ScalarCode.kind(number.float64()));
    }
  }

  private void address(int k, int row) {
    code.load(numbers.get(k).float64() ? doubles : floats);
    code.c.iload(row).loadConstant(k * Frame.MAX_ROWS).iadd();
  }

  /** The scalars of a row. */
  Broadcasts row(int row) {
    Broadcasts ofRow = new Broadcasts(code, vectors, place.elements());
    for (int k = 0; k < numbers.size(); k++) {
      int at = k;
      Value number = numbers.get(k);
      ofRow.add(
          number,
          () -> {
            address(at, row);
            code.c.arrayLoad(ScalarCode.kind(number.float64()));
          });
    }
    ofRow.literals(place);
    return ofRow;
  }
}
