package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;

import io.github.rmsnorm4j.internal.codec.Narrow;
import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.util.HashMap;
import java.util.Map;

/**
 * Values as code without vectors, each computed once: those of a row, or those of an element of it.
 */
final class ScalarCode {
  /** Leaves a number on the stack that is read and not computed; false for other values. */
  interface Reader {
    boolean read(Value value);
  }

  private final Code code;
  private final CodeBuilder c;
  private final Reader reader;

  /** Computed values, in locals. */
  private final Map<Value, Integer> known = new HashMap<>();

  ScalarCode(Code code, Reader reader) {
    this.code = code;
    c = code.c;
    this.reader = reader;
  }

  /** Values of an element, with those of its row. */
  ScalarCode(ScalarCode ofRow, Reader reader) {
    this(ofRow.code, reader);
    known.putAll(ofRow.known);
  }

  static TypeKind kind(boolean doubles) {
    return doubles ? TypeKind.DOUBLE : TypeKind.FLOAT;
  }

  /** Computes a value; returns its local. */
  int local(Value value) {
    Integer local = known.get(value);
    if (local == null) {
      if (!reader.read(value)) {
        compute(value);
      }
      local = code.store(kind(value.float64()));
      known.put(value, local);
    }
    return local;
  }

  /** Leaves a value on the stack. */
  void push(Value value) {
    c.loadLocal(kind(value.float64()), local(value));
  }

  /** Leaves a value on the stack, widened or rounded if that is asked for. */
  void push(Value value, boolean asDouble) {
    push(value);
    if (asDouble && !value.float64()) {
      c.f2d();
    } else if (!asDouble && value.float64()) {
      c.d2f();
    }
  }

  /** Keeps a number of a row. */
  void keep(int frame, int row, Stage.Keep keep) {
    code.line("%s = %s", keep.number(), keep.value().text());
    int local = local(keep.value());
    code.element(frame, "ofRow", CD_double.arrayType(), keep.number().place());
    c.iload(row).dload(local).dastore();
  }

  /**
   * Does something if a value is out of range; a NaN is.
   *
   * @param body leaves the stack as it is
   */
  void ifOut(Stage.Range range, Runnable body) {
    code.line("%s from %s to %s?", range.value().text(), range.least(), range.greatest());
    Label out = c.newLabel();
    Label end = c.newLabel();
    int local = local(range.value());
    c.dload(local).loadConstant(range.least()).dcmpl().iflt(out);
    c.dload(local).loadConstant(range.greatest()).dcmpg().ifle(end);
    c.labelBinding(out);
    body.run();
    c.labelBinding(end);
  }

  private void compute(Value value) {
    int[] of = value.operands().stream().mapToInt(this::local).toArray();
    for (int k = 0; k < of.length && !isChoice(value); k++) {
      c.loadLocal(kind(value.operands().get(k).float64()), of[k]);
    }
    ClassDesc type = value.float64() ? CD_double : CD_float;
    switch (value.kind()) {
      case LITERAL -> code.literal(value);
      case WIDENED -> c.f2d();
      case ROUNDED -> c.d2f();
      case ONE_NAN -> code.call(Narrow.class, "oneNan", CD_float, CD_float);
      case CAST -> {
        code.type(value.type());
        code.call(Narrow.class, "round", type, type, Code.TYPE);
      }
      case ROOT -> code.call(Math.class, "sqrt", CD_double, CD_double);
      case MAX -> code.call(Math.class, "max", type, type, type);
      case MIN -> code.call(Math.class, "min", type, type, type);
      case FMA -> code.call(Math.class, "fma", type, type, type, type);
      case POWER -> code.call(Power.class, "of", type, type);
      case PLUS -> operate(value, c::dadd, c::fadd);
      case MINUS -> operate(value, c::dsub, c::fsub);
      case TIMES -> operate(value, c::dmul, c::fmul);
      case OVER -> operate(value, c::ddiv, c::fdiv);
      case ABOVE, AT_LEAST -> choose(value, of);
      default -> throw new IllegalStateException(value.text());
    }
  }

  private static void operate(Value value, Runnable doubles, Runnable floats) {
    (value.float64() ? doubles : floats).run();
  }

  private static boolean isChoice(Value value) {
    return value.kind() == Value.Kind.ABOVE || value.kind() == Value.Kind.AT_LEAST;
  }

  private void choose(Value choice, int[] of) {
    Label otherwise = c.newLabel();
    Label end = c.newLabel();
    c.dload(of[0]).dload(of[1]).dcmpl();
    if (choice.kind() == Value.Kind.AT_LEAST) {
      c.iflt(otherwise);
    } else {
      c.ifle(otherwise);
    }
    c.dload(of[2]).goto_(end).labelBinding(otherwise).dload(of[3]).labelBinding(end);
  }
}
