package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/**
 * Numbers of rows: of one row, in both halves of a vector of 128 bits, or of as many rows as a
 * vector has doubles.
 *
 * @param rows 1, or the doubles of a vector
 * @param k elements that row sums are of, if the kernel is made for so many; otherwise 0
 * @param ahead rows from the one that the kernel is at to the first of them
 * @param pointers to the row whose first element may be asked for; null for numbers alone
 */
record RowValues(Assembler a, Pointers pointers, int rows, int ahead, int k)
    implements Values.Leaves {
  /** Doubles of a vector. */
  int elements() {
    return Math.max(2, rows);
  }

  @Override
  public boolean has(Value value) {
    return value.operands().isEmpty();
  }

  @Override
  public double number(Value value) {
    boolean known = value == Value.call(Forward.K);
    return known && k > 0 ? k : Values.Leaves.super.number(value);
  }

  @Override
  public MachineOperand inPlace(Value value) {
    if (value.kind() == Value.Kind.LITERAL) {
      return Values.constant(a, value);
    }
    return rows > 1 && value.kind() == Value.Kind.ROW ? address(value.tensor()) : null;
  }

  @Override
  public void load(Value value, Vector into) {
    switch (value.kind()) {
      case ROW -> duplicate(into, address(value.tensor()));
      case CALL -> duplicate(into, Address.at(Pointers.AREA, Area.of(value.tensor())));
      case ELEMENT -> first(value, into);
      default -> throw new UnsupportedOperationException("no machine code for " + value.text());
    }
  }

  private void duplicate(Vector into, Address from) {
    a.op(into.bits() == 128 ? VectorOp.VMOVDDUP : VectorOp.VBROADCASTSD, into, from);
  }

  /** Element 0 of the row. */
  private void first(Value element, Vector into) {
    Address from = Address.at(pointers.of(element.tensor()), 0);
    General pattern = Pointers.I.of(32);
    switch (element.type()) {
      case FLOAT64 -> duplicate(into, from);
      case FLOAT32 -> a.op(VectorOp.VBROADCASTSS, into, from);
      case BFLOAT16 -> {
        a.op(GeneralOp.MOVZX, pattern, from);
        a.op(GeneralOp.SHL, pattern, new Immediate(16));
        a.op(VectorOp.VMOVD, into, pattern);
      }
      case FLOAT16 -> {
        a.op(GeneralOp.MOVZX, pattern, from);
        a.op(VectorOp.VMOVD, into, pattern);
        a.op(VectorOp.VCVTPH2PS, into, into);
      }
    }
  }

  Address address(Tensor number) {
    return address(number, ahead);
  }

  /** Of a row so many after the one that the kernel is at. */
  static Address address(Tensor number, int ahead) {
    int at = Area.of(number) + ahead * Double.BYTES;
    return new Address(Pointers.AREA, Pointers.ROW, Double.BYTES, at);
  }
}
