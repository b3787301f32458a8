package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * A part that adds to numbers of columns, or that stores narrow rows, row after row: {@code
 * elements(frame, second, row, end, from, n)}.
 *
 * <p>The columns' numbers are as wide as a row, and would be read and written for each. So two rows
 * go through together; or, where rows are narrow, a few columns of all rows do, with their numbers
 * in registers.
 */
final class ColumnLoop {
  /** Rows that go through together, if that fits the budget of a loop. */
  private static final int ROWS = 2;

  /** Vectors of columns that go down narrow rows together, with sums of them and without. */
  private static final int VECTORS = 2;

  private static final int VECTORS_WITHOUT_SUMS = 4;

  private final Target target;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final Place place;
  private Map<Column, Integer> arrays;

  ColumnLoop(Target target, Code code) {
    this.target = target;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
    place = Place.of(target, 0, ElementLoop.FRAME);
  }

  void emit() {
    new RowPointers(code, place).load(target.memory().getFirst());
    arrays = ColumnArrays.load(code, place);
    if (target.width() > 0) {
      downColumns();
    } else {
      acrossRows();
    }
    c.return_();
  }

  /** Two rows at a time, and the last alone. */
  private void acrossRows() {
    if (Schedule.vectors(place.part(), ROWS * halves()) == ROWS * halves()) {
      c.iload(ElementLoop.END).iconst_1().isub();
      int pairs = code.storeInt();
      code.loop("row", ElementLoop.ROW, pairs, ROWS, () -> rows(ROWS));
    }
    code.loop("row", ElementLoop.ROW, ElementLoop.END, 1, () -> rows(1));
  }

  private void rows(int count) {
    int mark = code.mark();
    List<Place> places = new ArrayList<>();
    List<Broadcasts> ofRows = new ArrayList<>();
    for (int r = 0; r < count; r++) {
      c.iload(ElementLoop.ROW).loadConstant(r).iadd();
      int row = code.storeInt();
      Place ofRow = place.again();
      new RowPointers(code, ofRow).rows(row, () -> c.iload(ElementLoop.FROM));
      Broadcasts broadcasts = new Broadcasts();
      broadcasts.make(code, vectors, ofRow, row);
      places.add(ofRow);
      ofRows.add(broadcasts);
    }
    int i = code.constant(0);
    code.loop(
        "i",
        i,
        ElementLoop.N,
        place.step(),
        () -> {
          int inner = code.mark();
          places.forEach(ofRow -> new RowPointers(code, ofRow).elements(i));
          Elements.Columns columns = ColumnArrays.addresses(code, place, arrays, i);
          Vector vector = new Vector(columns, 0);
          vector.open();
          for (int r = 0; r < count; r++) {
            vector.row(places.get(r), ofRows.get(r));
          }
          vector.close();
          code.release(inner);
        });
    code.release(mark);
  }

  /** A few columns of all rows, then the next ones. */
  private void downColumns() {
    List<Value> numbers = new ArrayList<>(Broadcasts.of(place.part()));
    int table = table(numbers);
    int vectorsOfStep = vectorsOfStep();
    int i = code.constant(0);
    int n = code.constant(target.width());
    code.loop(
        "i",
        i,
        n,
        place.step() * vectorsOfStep,
        () -> {
          int mark = code.mark();
          Elements.Columns columns = ColumnArrays.addresses(code, place, arrays, i);
          List<Vector> group = new ArrayList<>();
          for (int j = 0; j < vectorsOfStep; j++) {
            group.add(new Vector(columns, j));
            group.getLast().open();
          }
          eachRow(
              row -> {
                new RowPointers(code, place)
                    .rows(row, () -> c.iload(ElementLoop.FROM).iload(i).iadd());
                Broadcasts ofRow = fromTable(numbers, table, row);
                group.forEach(vector -> vector.row(place, ofRow));
              });
          group.forEach(Vector::close);
          code.release(mark);
        });
  }

  private int halves() {
    return place.paired() ? 2 : 1;
  }

  private int vectorsOfStep() {
    int most = place.part().columnSums().isEmpty() ? VECTORS_WITHOUT_SUMS : VECTORS;
    int count = Math.max(1, Schedule.vectors(place.part(), most) / halves());
    while (target.width() % (place.step() * count) != 0) {
      count /= 2;
    }
    return count;
  }

  /** The rows' numbers that are to be broadcast, in the type of the elements. */
  private int table(List<Value> numbers) {
    if (numbers.size() > Frame.MAX_TABLES) {
      throw new IllegalArgumentException(numbers.size() + " numbers of a row in one part");
    }
    ClassDesc type = isFloat64() ? CD_double : CD_float;
    code.field(ElementLoop.FRAME, isFloat64() ? "doubles" : "floats", type.arrayType());
    int table = code.store();
    eachRow(
        row -> {
          Scalars scalars = new Scalars(code, ElementLoop.FRAME, row, -1);
          for (int k = 0; k < numbers.size(); k++) {
            code.line("table %d = %s", k, numbers.get(k).text());
            scalars.push(numbers.get(k));
            int value = code.store(TypeKind.from(type));
            code.load(table).c.iload(row).loadConstant(k * Frame.MAX_ROWS).iadd();
            c.loadLocal(TypeKind.from(type), value).arrayStore(TypeKind.from(type));
          }
        });
    return table;
  }

  private boolean isFloat64() {
    return place.elements() * Double.SIZE == target.bits();
  }

  private Broadcasts fromTable(List<Value> numbers, int table, int row) {
    Broadcasts ofRow = new Broadcasts();
    ClassDesc type = isFloat64() ? CD_double : CD_float;
    for (int k = 0; k < numbers.size(); k++) {
      int at = k * Frame.MAX_ROWS;
      code.line("broadcast %s", numbers.get(k).text());
      ofRow.put(
          numbers.get(k),
          vectors.broadcast(
              isFloat64() ? DOUBLES : FLOATS,
              target.bits(),
              () ->
                  code.load(table)
                      .c
                      .iload(row)
                      .loadConstant(at)
                      .iadd()
                      .arrayLoad(TypeKind.from(type))));
    }
    return ofRow;
  }

  /** All rows, one after the other, from the first on. */
  private void eachRow(IntConsumer body) {
    c.iload(ElementLoop.ROW);
    int row = code.storeInt();
    code.loop(
        "row",
        row,
        ElementLoop.END,
        1,
        () -> {
          int mark = code.mark();
          body.accept(row);
          code.release(mark);
        });
  }

  /** A vector of columns, or a pair of them, whose numbers are in registers while rows go by. */
  private final class Vector {
    private final Elements.Columns columns;
    private final int index;

    /** Values of columns, and sums over rows: of even and of odd columns. */
    private final List<Map<Value, Integer>> values = new ArrayList<>();

    private final List<Map<Column, Integer>> sums = new ArrayList<>();

    Vector(Elements.Columns columns, int index) {
      this.columns = columns;
      this.index = index;
    }

    private Elements elements(Place ofRow, Broadcasts broadcasts) {
      return new Elements(code, vectors, ofRow, broadcasts, columns, index);
    }

    void open() {
      Elements elements = elements(place, new Broadcasts());
      for (int half = 0; half < halves(); half++) {
        if (half == 1) {
          elements.beginOdd();
        }
        Map<Value, Integer> ofColumns = new HashMap<>();
        Map<Column, Integer> ofSums = new HashMap<>();
        for (Part.Statement statement : place.part().statements()) {
          collect(statement.value(), elements, ofColumns);
        }
        for (Part.ColumnSum sum : place.part().columnSums()) {
          boolean float64 = sum.value().float64();
          ofSums.put(sum.column(), elements.value(new Value.OfColumn(sum.column(), float64)));
        }
        values.add(ofColumns);
        sums.add(ofSums);
      }
    }

    private void collect(Value value, Elements elements, Map<Value, Integer> into) {
      if (value instanceof Value.OfColumn) {
        into.computeIfAbsent(value, elements::value);
      }
      for (Value part : value.parts()) {
        collect(part, elements, into);
      }
    }

    void row(Place ofRow, Broadcasts broadcasts) {
      Elements elements = elements(ofRow, broadcasts);
      Map<Part.Store, Integer> even = new HashMap<>();
      for (int half = 0; half < halves(); half++) {
        if (half == 1) {
          elements.beginOdd();
        }
        elements.share(values.get(half));
        for (Part.Statement statement : place.part().statements()) {
          switch (statement) {
            case Part.Store s -> elements.store(s, even);
            case Part.ColumnSum s -> {
              int term = elements.value(s.value());
              int sum = sums.get(half).get(s.column());
              code.line("%s[i] += %s", s.column(), s.value().text());
              code.load(sum);
              vectors.with(s.value().float64() ? DOUBLES : FLOATS, "add", term);
              c.astore(sum);
            }
            default -> throw new IllegalArgumentException(statement + " among columns");
          }
        }
      }
    }

    void close() {
      for (int half = 0; half < halves(); half++) {
        int from = place.columnOffset(index, half == 1);
        for (Part.ColumnSum sum : place.part().columnSums()) {
          code.line("store %s", sum.column());
          code.load(sums.get(half).get(sum.column()));
          vectors.intoArray(
              sum.value().float64() ? DOUBLES : FLOATS, () -> columns.address(sum.column(), from));
        }
      }
    }
  }
}
