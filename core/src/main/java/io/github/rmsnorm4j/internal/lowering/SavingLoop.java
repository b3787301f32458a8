package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_long;

import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A loop over the elements of rows, which computes values and saves them. */
final class SavingLoop {
  /** Parameters after the frame: whether rows are the caller's arrays, and the rows. */
  private static final int DIRECT = 1;

  private static final int FROM_ROW = 2;
  private static final int TO_ROW = 3;

  /** The first index of floats, that of doubles, and the number of elements. */
  private static final int AT = 4;

  private static final int COLUMN = 5;
  private static final int N = 6;

  /** The number of int parameters. */
  static final int INTS = 6;

  private final LoopCode loops;
  private final Code code;
  private final CodeBuilder c;
  private final LoopPlan plan;
  private final int round;
  private final List<LoopPlan.Saved> saved;

  /** By array: a local with it. */
  private final Map<Integer, Integer> arrays = new HashMap<>();

  SavingLoop(LoopCode loops, int round) {
    this.loops = loops;
    code = loops.code;
    c = code.c;
    plan = loops.plan;
    this.round = round;
    saved = plan.rounds().get(round).saved();
  }

  void emit() {
    for (int array : used()) {
      arrays.put(array, loops.array(array, DIRECT));
    }
    int stride = stride();
    code.loop(
        "row",
        FROM_ROW,
        TO_ROW,
        1,
        row -> {
          ScalarCode ofRow = loops.ofRow(row);
          int from = code.constant(0);
          code.loop("i", from, N, 1, i -> element(ofRow, i));
          c.iload(AT).iload(stride).iadd().istore(AT);
        });
    c.return_();
  }

  /** Elements from a row to the next; rows in strips are done one by one. */
  private int stride() {
    int[] slots = plan.rows();
    if (slots.length == 0) {
      return code.constant(0);
    }
    code.element(LoopCode.FRAME, "stride", CD_long, slots[0]);
    c.loadConstant(plan.float64() ? 3 : 2).lshr().l2i();
    return code.storeInt();
  }

  private void element(ScalarCode ofRow, int i) {
    ScalarCode values = new ScalarCode(ofRow, value -> read(value, i));
    for (LoopPlan.Saved s : saved) {
      code.line("%s", s.value().text());
      values.local(s.value());
    }
    for (LoopPlan.Saved s : saved) {
      boolean doubles = plan.arrays().get(s.array()).doubles();
      at(s.array(), i);
      if (s.adds()) {
        sum(values, s);
      } else {
        values.push(s.value(), doubles);
      }
      c.arrayStore(ScalarCode.kind(doubles));
    }
  }

  /** A sum of a column, in its own type, though a float32 lies in a double[]. */
  private void sum(ScalarCode values, LoopPlan.Saved saved) {
    c.dup2().daload();
    if (saved.value().float64()) {
      values.push(saved.value(), true);
      c.dadd();
    } else {
      c.d2f();
      values.push(saved.value(), false);
      c.fadd().f2d();
    }
  }

  private boolean read(Value value, int i) {
    Integer array = plan.array(value, round);
    if (array != null) {
      boolean doubles = plan.arrays().get(array).doubles();
      at(array, i);
      c.arrayLoad(ScalarCode.kind(doubles));
      if (doubles && !value.float64()) {
        c.d2f();
      }
    }
    return array != null;
  }

  /** Leaves an array and an index on the stack. */
  private void at(int array, int i) {
    LoopPlan.Array of = plan.arrays().get(array);
    boolean ofColumns = of.kind() == LoopPlan.Kind.COLUMNS || of.doubles() && !plan.float64();
    c.aload(arrays.get(array)).iload(ofColumns ? COLUMN : AT).iload(i).iadd();
  }

  /** The arrays that it reads or writes. */
  private Set<Integer> used() {
    Set<Integer> used = new LinkedHashSet<>();
    for (LoopPlan.Saved s : saved) {
      used(s.value(), used);
      used.add(s.array());
    }
    return used;
  }

  private void used(Value value, Set<Integer> into) {
    Integer array = value.perElement() ? plan.array(value, round) : null;
    if (array != null) {
      into.add(array);
    } else if (value.perElement()) {
      value.operands().forEach(operand -> used(operand, into));
    }
  }
}
