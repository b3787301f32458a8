package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;

import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.util.List;

/** What the loops of a stage read: arrays, and what a row has one of. */
final class LoopCode {
  /** The parameter with the frame, of all methods. */
  static final int FRAME = 0;

  /** Flags for arrays of the caller. */
  static final int ROWS = 1;

  static final int COLUMNS = 2;

  final Code code;
  final CodeBuilder c;
  final LoopPlan plan;
  private final List<Value> firsts;

  LoopCode(Code code, LoopPlan plan) {
    this.code = code;
    c = code.c;
    this.plan = plan;
    firsts = plan.firsts();
  }

  /** Values of a row. */
  ScalarCode numbers(int row) {
    return new ScalarCode(code, value -> read(row, value));
  }

  /** The values of a row that its elements need, computed. */
  ScalarCode ofRow(int row) {
    ScalarCode values = numbers(row);
    for (Value value : plan.stage().rowValues()) {
      code.line("%s", value.text());
      values.local(value);
    }
    return values;
  }

  private boolean read(int row, Value value) {
    if (value.kind() != Value.Kind.FIRST) {
      return code.number(FRAME, row, value);
    }
    code.element(FRAME, "firsts", CD_double, firsts.indexOf(value));
    if (!value.float64()) {
      c.d2f();
    }
    return true;
  }

  /**
   * A local with an array.
   *
   * @param direct a local: what the caller's arrays are; otherwise there are strips
   */
  int array(int array, int direct) {
    LoopPlan.Array of = plan.arrays().get(array);
    int slot = plan.slot(array);
    if (slot < 0 || of.kind() == LoopPlan.Kind.COLUMNS && !plan.mayReachColumns()) {
      strip(array, of);
      return code.store();
    }
    Label strip = c.newLabel();
    Label end = c.newLabel();
    c.iload(direct).loadConstant(of.kind() == LoopPlan.Kind.COLUMNS ? COLUMNS : ROWS);
    c.iand().ifeq(strip);
    code.element(FRAME, "base", CD_Object, slot).c.checkcast(type(of).arrayType());
    c.goto_(end).labelBinding(strip);
    strip(array, of);
    c.labelBinding(end);
    return code.store();
  }

  private void strip(int array, LoopPlan.Array of) {
    String strips = of.doubles() ? "doubleStrips" : "floatStrips";
    code.element(FRAME, strips, type(of).arrayType(), array);
  }

  private static ClassDesc type(LoopPlan.Array array) {
    return array.doubles() ? CD_double : CD_float;
  }
}
