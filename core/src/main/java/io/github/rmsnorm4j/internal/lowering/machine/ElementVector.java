package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.ArrayList;
import java.util.List;

/** One vector of elements, and what a stage does with it. */
final class ElementVector {
  private final Assembler a;
  private final Registers registers;
  private final Target target;
  private final Elements memory;
  private final Values values;

  ElementVector(Assembler a, Registers registers, Target target, Stage stage, Elements memory) {
    this.a = a;
    this.registers = registers;
    this.target = target;
    this.memory = memory;
    List<Value> results = new ArrayList<>();
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Sum sum && sum.value().isExactProduct()) {
        results.addAll(sum.value().operands());
      } else if (statement.isOfElements()) {
        results.add(statement.value());
      }
    }
    values = new Values(a, registers, memory, target.elements(stage), results);
  }

  /** Does a statement that is no row sum. */
  void store(Stage.Statement statement) {
    if (statement instanceof Stage.Store store) {
      a.comment("%s[i] = %s", store.rows(), new Text(store.value()));
      Vector value = values.get(store.value());
      Stores.emit(a, registers, store, value, memory, streams(store));
      values.done(store.value());
    } else if (statement instanceof Stage.ColumnSum sum) {
      add(sum);
    }
  }

  /** What is in the copy of a row's end is copied again at once. */
  private boolean streams(Stage.Store store) {
    Elements.Where where = memory.where();
    boolean aligned = where == Elements.Where.LOOP || where == Elements.Where.ROW;
    return aligned && target.streams(store.rows());
  }

  private void add(Stage.ColumnSum sum) {
    a.comment("%s[i] += %s", sum.column(), new Text(sum.value()));
    Vector value = values.get(sum.value());
    Vector added = registers.take(value.bits());
    Address column = memory.address(sum.column(), sum.value().computeType());
    a.op(sum.value().float64() ? VectorOp.VADDPD : VectorOp.VADDPS, added, value, column);
    a.op(VectorOp.VMOVUPS_TO, column, added);
    registers.giveBack(added);
    values.done(sum.value());
  }

  /** Stores this vector and the next one. */
  void storeWith(ElementVector next, Stage.Store store) {
    a.comment("%s[i] = %s, two vectors", store.rows(), new Text(store.value()));
    Vector first = values.get(store.value());
    Vector second = next.values.get(store.value());
    Address to = memory.address(store.rows(), store.type());
    new Rounding(a, registers).storePair(first, second, to, streams(store));
    values.done(store.value());
    next.values.done(store.value());
  }

  /**
   * Adds the term of a row sum to its lanes. A product that is exact is fused with the addition.
   *
   * @param mask memory with ones where there is an element, or null if there is one everywhere
   */
  void add(Stage.Sum sum, Vector lanes, Address mask) {
    Value term = sum.value();
    a.comment("%s += %s", sum.number(), new Text(term));
    List<Value> factors = term.isExactProduct() ? term.operands() : List.of(term);
    Vector x = values.get(factors.getFirst());
    Vector y = factors.size() == 1 ? null : values.get(factors.getLast());
    if (mask != null) {
      addMasked(x, y, lanes, mask);
    } else if (y == null) {
      a.op(VectorOp.VADDPD, lanes, lanes, x);
    } else {
      a.op(VectorOp.VFMADD231PD, lanes, x, y);
    }
    for (Value factor : factors) {
      values.done(factor);
    }
  }

  private void addMasked(Vector x, Vector y, Vector lanes, Address mask) {
    Vector term = registers.take(lanes.bits());
    if (y == null) {
      a.op(VectorOp.VANDPS, term, x, mask);
    } else {
      a.op(VectorOp.VMULPD, term, x, y);
      a.op(VectorOp.VANDPS, term, term, mask);
    }
    a.op(VectorOp.VADDPD, lanes, lanes, term);
    registers.giveBack(term);
  }
}
