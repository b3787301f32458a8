package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Computes numbers of rows from other numbers of rows, a vector of rows at a time: {@code
 * rows(frame, rows)}. The last vector may reach beyond the last row.
 */
final class RowLoop {
  static final int FRAME = 0;
  static final int ROWS = 1;

  private final Stage stage;
  private final int bits;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final Map<Stage.Range, int[]> bounds = new HashMap<>();
  private final Map<Tensor, Integer> arrays = new TreeMap<>();

  /**
   * A local: the least distance of a value from the end of its range so far. Below 0 a value is
   * outside; a NaN gives NaN.
   */
  private int within = -1;

  /** Calls of the Vector API in the loop. */
  private int calls;

  RowLoop(Stage stage, int bits, Code code) {
    this.stage = stage;
    this.bits = bits;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
  }

  void emit() {
    Broadcasts ofCall = new Broadcasts(code, vectors, bits / Double.SIZE);
    prepare(ofCall);
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep keep) {
        array(keep.number());
      } else if (statement instanceof Stage.Range range) {
        bounds.put(range, new int[] {constant(range.least()), constant(range.greatest())});
      }
    }
    if (!bounds.isEmpty()) {
      within = constant(Double.POSITIVE_INFINITY);
    }
    int row = code.constant(0);
    int before = vectors.calls();
    code.loop("row", row, ROWS, bits / Double.SIZE, () -> rows(row, ofCall));
    calls = vectors.calls() - before;
    ranges();
    c.return_();
  }

  /** Calls of the Vector API in the loop, once it is emitted. */
  int calls() {
    return calls;
  }

  private int constant(double number) {
    return vectors.broadcast(DOUBLES, bits, () -> c.loadConstant(number));
  }

  /** Makes vectors of the values that are the same for all rows, and loads the arrays of others. */
  private void prepare(Broadcasts ofCall) {
    Set<Value> ofRow = new HashSet<>();
    for (Value value : stage.values()) {
      if (value.kind() == Value.Kind.ROW) {
        array(value.tensor());
        ofRow.add(value);
      } else if (value.operands().stream().anyMatch(ofRow::contains)) {
        ofRow.add(value);
      }
    }
    for (Value value : stage.values()) {
      if (ofRow.contains(value)) {
        value.operands().stream().filter(of -> !ofRow.contains(of)).forEach(of -> add(of, ofCall));
      }
    }
    for (Stage.Statement statement : stage.statements()) {
      if (!ofRow.contains(statement.value())) {
        add(statement.value(), ofCall);
      }
    }
  }

  private void add(Value value, Broadcasts ofCall) {
    if (ofCall.get(value) == null) {
      ofCall.add(value, () -> new Scalars(code, FRAME, -1, -1).push(value));
    }
  }

  private void array(Tensor number) {
    arrays.computeIfAbsent(
        number,
        k -> {
          code.element(FRAME, "ofRow", CD_double.arrayType(), number.place());
          return code.store();
        });
  }

  private void rows(int row, Broadcasts ofCall) {
    int mark = code.mark();
    Map<Tensor, Place.Pointer> pointers = new TreeMap<>();
    arrays.forEach(
        (number, array) ->
            pointers.put(
                number,
                new Place.Pointer(ElementType.FLOAT64, Memory.HEAP, array, -1, -1, row, row)));
    Place place = new Place(stage, FRAME, false, bits / Double.SIZE, 0, 1, false, pointers);
    Elements elements = new Elements(code, vectors, place, ofCall, 0);
    for (Stage.Statement statement : stage.statements()) {
      int value = elements.value(statement.value());
      switch (statement) {
        case Stage.Keep keep -> {
          code.line("%s = %s", keep.number(), keep.value().text());
          code.load(value);
          vectors.intoArray(DOUBLES, () -> elements.address(keep.number(), 0));
        }
        case Stage.Range range -> {
          int[] bound = bounds.get(range);
          code.line("%s from %s to %s?", range.value().text(), range.least(), range.greatest());
          least(value, bound[0]);
          least(bound[1], value);
        }
        default -> throw new IllegalArgumentException(statement + " among rows");
      }
    }
    code.release(mark);
  }

  /** The difference of two locals, if it is less than the differences before. */
  private void least(int a, int b) {
    code.load(a);
    vectors.with(DOUBLES, "SUB", b);
    vectors.with(DOUBLES, "MIN", within);
    c.astore(within);
  }

  /** Tells whether a row is out of range. */
  private void ranges() {
    if (bounds.isEmpty()) {
      return;
    }
    code.line("out of range?");
    c.aload(FRAME);
    code.load(within);
    vectors.least();
    Label out = c.newLabel();
    Label end = c.newLabel();
    c.dconst_0().dcmpl().iflt(out);
    c.iconst_0().goto_(end).labelBinding(out).iconst_1().labelBinding(end);
    c.putfield(Code.FRAME, "outOfRange", CD_boolean);
  }
}
