package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Numbers of rows from other numbers of rows, a vector of rows at a time: {@code rows(frame, rows)}.
 * The last vector may go beyond the last row.
 */
final class RowLoop {
  static final int FRAME = 0;
  static final int ROWS = 1;
  static final int LOCALS = 2;

  private static final ClassDesc ASSOCIATIVE =
      ClassDesc.of("jdk.incubator.vector.VectorOperators$Associative");

  private final Part part;
  private final int bits;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final Map<RowNumber, Integer> arrays = new EnumMap<>(RowNumber.class);

  /** The least and the greatest of each range's values so far. */
  private final Map<Part.Range, int[]> extremes = new LinkedHashMap<>();

  RowLoop(Part part, int bits, Code code) {
    this.part = part;
    this.bits = bits;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
  }

  void emit() {
    Broadcasts ofCall = new Broadcasts();
    for (Part.Statement statement : part.statements()) {
      prepare(statement.value(), ofCall);
      if (statement instanceof Part.Keep keep) {
        array(keep.number());
      } else if (statement instanceof Part.Range range) {
        int least = constant(Double.POSITIVE_INFINITY);
        int greatest = constant(Double.NEGATIVE_INFINITY);
        extremes.put(range, new int[] {least, greatest});
      }
    }
    int row = code.constant(0);
    code.loop("row", row, ROWS, bits / Double.SIZE, () -> rows(row, ofCall));
    ranges();
    c.return_();
  }

  private int constant(double number) {
    return vectors.broadcast(DOUBLES, bits, () -> c.loadConstant(number));
  }

  private static boolean isOfRow(Value value) {
    boolean any = value instanceof Value.OfRow;
    for (Value part : value.parts()) {
      any |= isOfRow(part);
    }
    return any;
  }

  private void prepare(Value value, Broadcasts ofCall) {
    if (!isOfRow(value)) {
      if (ofCall.get(value) == null) {
        code.line("broadcast %s", value.text());
        Scalars scalars = new Scalars(code, FRAME, -1, -1);
        ofCall.put(value, vectors.broadcast(DOUBLES, bits, () -> scalars.push(value)));
      }
      return;
    }
    if (value instanceof Value.OfRow(RowNumber number)) {
      array(number);
    }
    for (Value part : value.parts()) {
      prepare(part, ofCall);
    }
  }

  private void array(RowNumber number) {
    arrays.computeIfAbsent(
        number,
        k -> {
          code.element(FRAME, "ofRow", CD_double.arrayType(), number.ordinal());
          return code.store();
        });
  }

  private void rows(int row, Broadcasts ofCall) {
    int mark = code.mark();
    Elements.Columns numbers =
        new Elements.Columns() {
          @Override
          public void address(Column column, int from) {
            throw new IllegalArgumentException(column + " among rows");
          }

          @Override
          public void address(RowNumber number) {
            code.load(arrays.get(number)).c.iload(row);
          }
        };
    Place place = new Place(part, FRAME, false, bits / Double.SIZE, 0, 1, false, new HashMap<>());
    Elements elements = new Elements(code, vectors, place, ofCall, numbers, 0);
    for (Part.Statement statement : part.statements()) {
      int value = elements.value(statement.value());
      switch (statement) {
        case Part.Keep keep -> {
          code.line("%s = %s", keep.number(), keep.value().text());
          code.load(value);
          vectors.intoArray(
              DOUBLES, () -> code.load(arrays.get(keep.number())).c.iload(row));
        }
        case Part.Range range -> {
          code.line("least and greatest %s", range.value().text());
          extreme(extremes.get(range)[0], "min", value);
          extreme(extremes.get(range)[1], "max", value);
        }
        default -> throw new IllegalArgumentException(statement + " among rows");
      }
    }
    code.release(mark);
  }

  private void extreme(int local, String method, int value) {
    code.load(local);
    vectors.with(DOUBLES, method, value);
    c.astore(local);
  }

  /** Tells whether a row is out of range; a NaN is neither above nor below a bound, and is. */
  private void ranges() {
    c.aload(FRAME);
    Label out = c.newLabel();
    Label end = c.newLabel();
    extremes.forEach(
        (range, locals) -> {
          code.line("%s from %s to %s?", range.value().text(), range.least(), range.greatest());
          reduce(locals[0], "MIN");
          c.loadConstant(range.least()).dcmpl().iflt(out);
          reduce(locals[1], "MAX");
          c.loadConstant(range.greatest()).dcmpg().ifgt(out);
        });
    c.iconst_0().goto_(end).labelBinding(out).iconst_1().labelBinding(end);
    c.putfield(Code.FRAME, "outOfRange", CD_boolean);
  }

  private void reduce(int local, String operator) {
    code.load(local);
    c.getstatic(ClassDesc.of("jdk.incubator.vector.VectorOperators"), operator, ASSOCIATIVE);
    vectors.call(DOUBLES, "reduceLanes", CD_double, ASSOCIATIVE);
  }
}
