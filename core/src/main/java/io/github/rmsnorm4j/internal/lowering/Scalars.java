package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
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

  private final ScalarMemory memory;
  private final ScalarCode values;

  Scalars(Code code, int frame, int row, int element) {
    this.code = code;
    c = code.c;
    this.frame = frame;
    this.row = row;
    this.element = element;
    memory = new ScalarMemory(code, frame, row, element);
    values = new ScalarCode(code, this::read);
  }

  private Scalars(Scalars ofRow, int element) {
    code = ofRow.code;
    c = code.c;
    frame = ofRow.frame;
    row = ofRow.row;
    this.element = element;
    memory = new ScalarMemory(code, frame, row, element);
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
      if (statement instanceof Stage.Keep(Tensor number, Value value)) {
        code.line("%s = %s", number, value.text());
        push(value);
        int local = code.store(TypeKind.DOUBLE);
        code.element(frame, "ofRow", CD_double.arrayType(), number.place());
        c.iload(row).dload(local).dastore();
      }
    }
  }

  /** Leaves a value on the stack. */
  void push(Value value) {
    values.push(value);
  }

  private boolean read(Value value) {
    switch (value.kind()) {
      case ELEMENT -> memory.load(value);
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

  /** Writes a value to the element. */
  void store(Stage.Store store) {
    code.line("%s[i] = %s", store.rows(), store.value().text());
    memory.store(store.rows(), store.type(), () -> push(store.value()));
  }
}
