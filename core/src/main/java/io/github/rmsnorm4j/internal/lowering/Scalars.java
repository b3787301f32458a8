package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;

import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.HashMap;
import java.util.Map;

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

  /** Computed values, in locals. */
  private final Map<Value, Integer> known = new HashMap<>();

  Scalars(Code code, int frame, int row, int element) {
    this.code = code;
    c = code.c;
    this.frame = frame;
    this.row = row;
    this.element = element;
    memory = new ScalarMemory(code, frame, row, element);
  }

  /** The scalars of this row, and of an element of it. */
  Scalars at(int element) {
    Scalars scalars = new Scalars(code, frame, row, element);
    scalars.known.putAll(known);
    return scalars;
  }

  /** Computes a value of the row, for all elements. */
  void know(Value value) {
    code.line("%s", value.text());
    push(value);
    if (value.float64()) {
      c.pop2();
    } else {
      c.pop();
    }
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

  static TypeKind kind(Value value) {
    return value.float64() ? TypeKind.DOUBLE : TypeKind.FLOAT;
  }

  /** Leaves a value on the stack. */
  void push(Value value) {
    Integer local = known.get(value);
    if (local == null) {
      compute(value);
      local = code.store(kind(value));
      known.put(value, local);
    }
    c.loadLocal(kind(value), local);
  }

  private void compute(Value value) {
    switch (value.kind()) {
      case ELEMENT -> memory.load(value);
      case FIRST -> new Scalars(code, frame, row, -1).push(value.a());
      case COLUMN -> {
        ClassDesc type = value.float64() ? CD_double : CD_float;
        column(value.tensor(), type);
        c.arrayLoad(TypeKind.from(type));
      }
      case ROW -> {
        code.element(frame, "ofRow", CD_double.arrayType(), value.tensor().place());
        c.iload(row).daload();
      }
      case CALL -> code.element(frame, "ofCall", CD_double, value.tensor().place());
      case LITERAL -> code.literal(value);
      case ABOVE, AT_LEAST -> choose(value);
      default -> operate(value);
    }
  }

  private void operate(Value value) {
    value.operands().forEach(this::push);
    ClassDesc type = value.float64() ? CD_double : CD_float;
    switch (value.kind()) {
      case WIDENED -> c.f2d();
      case ROUNDED -> c.d2f();
      case ONE_NAN -> code.call(Narrow.class, "oneNan", CD_float, CD_float);
      case CAST -> {
        memory.type(value.type());
        code.call(Narrow.class, "round", type, type, ScalarMemory.TYPE);
      }
      case ROOT -> code.call(Math.class, "sqrt", CD_double, CD_double);
      case PLUS -> or(value, c::dadd, c::fadd);
      case MINUS -> or(value, c::dsub, c::fsub);
      case TIMES -> or(value, c::dmul, c::fmul);
      case OVER -> or(value, c::ddiv, c::fdiv);
      case MAX -> code.call(Math.class, "max", type, type, type);
      case MIN -> code.call(Math.class, "min", type, type, type);
      case FMA -> code.call(Math.class, "fma", type, type, type, type);
      case POWER -> code.call(Power.class, "of", type, type);
      default -> throw new IllegalStateException(value.text());
    }
  }

  private static void or(Value value, Runnable d, Runnable f) {
    (value.float64() ? d : f).run();
  }

  private void choose(Value choice) {
    Label otherwise = c.newLabel();
    Label end = c.newLabel();
    // Both are computed, because a local that is set in one branch only could not be used again.
    Value first = choice.operands().get(2);
    Value second = choice.operands().get(3);
    push(first);
    c.pop2();
    push(second);
    c.pop2();
    push(choice.a());
    push(choice.b());
    c.dcmpl();
    if (choice.kind() == Value.Kind.AT_LEAST) {
      c.iflt(otherwise);
    } else {
      c.ifle(otherwise);
    }
    push(first);
    c.goto_(end).labelBinding(otherwise);
    push(second);
    c.labelBinding(end);
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
