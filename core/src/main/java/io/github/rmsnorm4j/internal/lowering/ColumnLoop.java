package io.github.rmsnorm4j.internal.lowering;

import java.lang.classfile.CodeBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * A stage that adds to numbers of columns, or that stores narrow rows, row after row: {@code
 * elements(frame, second, row, end, from, n)}.
 *
 * <p>The numbers of columns are as wide as a row, and would be read and written for each row. So
 * the loop takes two rows at a time. For narrow rows it takes a few columns of all rows, with their
 * numbers in registers.
 */
final class ColumnLoop {
  /** Rows that the loop takes at a time, if they fit the budget of a loop. */
  private static final int ROWS = 2;

  /** Vectors of columns that the loop takes at a time over narrow rows, with and without sums. */
  private static final int VECTORS = 2;

  private static final int VECTORS_WITHOUT_SUMS = 4;

  private final Target target;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final Place place;

  ColumnLoop(Target target, Code code) {
    this.target = target;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
    place = Place.of(target, 0, ElementLoop.FRAME);
  }

  void emit() {
    new RowPointers(code, place).load(target.memory().getFirst());
    if (target.width() > 0) {
      downColumns();
    } else {
      acrossRows();
    }
    c.return_();
  }

  /** Two rows at a time; an odd last row alone. */
  private void acrossRows() {
    if (Schedule.vectors(place.stage(), ROWS * place.halves()) == ROWS * place.halves()) {
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
      Broadcasts broadcasts = new Broadcasts(code, vectors, place.elements());
      broadcasts.make(ofRow, row);
      places.add(ofRow);
      ofRows.add(broadcasts);
    }
    code.loop(
        "i",
        code.constant(0),
        ElementLoop.N,
        place.step(),
        i -> {
          places.forEach(ofRow -> new RowPointers(code, ofRow).elements(i));
          new RowPointers(code, place).columns(i);
          ColumnVector vector = new ColumnVector(code, vectors, place, 0);
          vector.open();
          for (int r = 0; r < count; r++) {
            vector.row(places.get(r), ofRows.get(r));
          }
          vector.close();
        });
    code.release(mark);
  }

  /** A few columns of all rows, then the next ones. */
  private void downColumns() {
    RowTable table = new RowTable(code, vectors, place);
    int vectorsOfStep = vectorsOfStep();
    code.loop(
        "i",
        code.constant(0),
        code.constant(target.width()),
        place.step() * vectorsOfStep,
        i -> {
          new RowPointers(code, place).columns(i);
          List<ColumnVector> group = new ArrayList<>();
          for (int j = 0; j < vectorsOfStep; j++) {
            group.add(new ColumnVector(code, vectors, place, j));
            group.getLast().open();
          }
          code.loop(
              "row",
              ElementLoop.ROW,
              ElementLoop.END,
              1,
              row -> {
                new RowPointers(code, place)
                    .rows(row, () -> c.iload(ElementLoop.FROM).iload(i).iadd());
                Broadcasts ofRow = table.row(row);
                group.forEach(vector -> vector.row(place, ofRow));
              });
          group.forEach(ColumnVector::close);
        });
  }

  private int vectorsOfStep() {
    int most = place.stage().columnSums().isEmpty() ? VECTORS_WITHOUT_SUMS : VECTORS;
    int count = Math.max(1, Schedule.vectors(place.stage(), most) / place.halves());
    while (target.width() % (place.step() * count) != 0) {
      count /= 2;
    }
    return count;
  }
}
