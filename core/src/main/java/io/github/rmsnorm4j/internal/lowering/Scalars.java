package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;

/**
 * Values of one row, or of one element of it, as code without vectors: the values that are
 * broadcast to all elements of a row, and the elements after the last whole vector.
 */
final class Scalars {
  private final Code code;
  private final CodeBuilder c;
  private final int frame;
  private final int row;

  /** The element, a local; -1 if only the first element is used. */
  private final int element;

  private final ScalarCode values;

  Scalars(Code code, int frame, int row, int element) {
    this.code = code;
    c = code.c;
    this.frame = frame;
    this.row = row;
    this.element = element;
    values = new ScalarCode(code, this::read);
  }

  private Scalars(Scalars ofRow, int element) {
    code = ofRow.code;
    c = code.c;
    frame = ofRow.frame;
    row = ofRow.row;
    this.element = element;
    values = new ScalarCode(ofRow.values, this::read);
  }

  /** The scalars of this row, and of an element of it. */
  Scalars at(int element) {
    return new Scalars(this, element);
  }

  /** Computes a value of the row, for all elements. */
  void know(Value value) {
    code.line("%s", value.text());
    values.local(value);
  }

  /** Stores the numbers that a stage keeps of the row. */
  void keep(Stage stage) {
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep keep) {
        values.keep(frame, row, keep);
      }
    }
  }

  /** Does something if a value is out of range. */
  void ifOut(Stage.Range range, Runnable body) {
    values.ifOut(range, body);
  }

  /** Leaves a value on the stack. */
  void push(Value value) {
    values.push(value);
  }

  private boolean read(Value value) {
    switch (value.kind()) {
      case ELEMENT -> load(value);
      case FIRST -> new Scalars(code, frame, row, -1).push(value.a());
      case COLUMN -> {
        ClassDesc type = value.float64() ? CD_double : CD_float;
        column(value.tensor(), type);
        c.arrayLoad(TypeKind.from(type));
      }
      default -> {
        return code.number(frame, row, value);
      }
    }
    return true;
  }

  /** Leaves the array and the index of the element's column. */
  void column(Tensor column, ClassDesc type) {
    code.element(frame, "base", CD_Object, column.slot()).c.checkcast(type.arrayType());
    int log = type.equals(CD_double) ? 3 : 2;
    code.element(frame, "offset", CD_long, column.slot()).c.loadConstant(log).lshr().l2i();
    c.iload(element).iadd();
  }

  /** Leaves the element on the stack. */
  private void load(Value e) {
    if (e.float64()) {
      address(e.tensor(), e.type());
      code.call(Memory.class, "getDouble", CD_double, CD_Object, CD_long);
    } else {
      code.type(e.type());
      address(e.tensor(), e.type());
      code.call(Memory.class, "getFloat", CD_float, Code.TYPE, CD_Object, CD_long);
    }
  }

  /** Writes a value to the element. */
  void store(Stage.Store store) {
    code.line("%s[i] = %s", store.rows(), store.value().text());
    if (store.type() == ElementType.FLOAT64) {
      address(store.rows(), store.type());
      push(store.value());
      code.call(Memory.class, "setDouble", CD_void, CD_Object, CD_long, CD_double);
    } else {
      code.type(store.type());
      address(store.rows(), store.type());
      push(store.value());
      code.call(Memory.class, "setFloat", CD_void, Code.TYPE, CD_Object, CD_long, CD_float);
    }
  }

  /** Leaves the base, and the offset of the element in the type of the rows. */
  private void address(Tensor rows, ElementType type) {
    code.element(frame, "base", CD_Object, rows.slot());
    code.element(frame, "offset", CD_long, rows.slot());
    code.element(frame, "stride", CD_long, rows.slot()).c.iload(row).i2l().lmul().ladd();
    if (element >= 0) {
      c.iload(element).i2l().loadConstant((long) type.bytes()).lmul().ladd();
    }
  }
}
