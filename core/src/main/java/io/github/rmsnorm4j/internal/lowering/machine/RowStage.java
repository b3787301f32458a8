package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.ArrayList;
import java.util.List;

/** What is kept of rows, and their ranges. */
final class RowStage {
  /** Comparisons that are false where one of two is NaN. */
  private static final Immediate AT_LEAST = new Immediate(13);

  private static final Immediate AT_MOST = new Immediate(2);

  private final Assembler a;
  private final Registers registers;
  private final RowValues numbers;
  private final Values values;

  /** Where to go with a row that is out of range. */
  private final Label refused;

  RowStage(Assembler a, Registers registers, RowValues numbers, Stage stage, Label refused) {
    this.a = a;
    this.registers = registers;
    this.numbers = numbers;
    this.refused = refused;
    List<Value> results = new ArrayList<>();
    for (Stage.Statement statement : stage.statements()) {
      if (!statement.isOfElements()) {
        results.add(statement.value());
      }
    }
    values = new Values(a, registers, numbers, numbers.elements(), results);
  }

  void emit(Stage stage) {
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep keep) {
        keep(keep);
      } else if (statement instanceof Stage.Range range) {
        check(range);
      }
    }
  }

  private void keep(Stage.Keep keep) {
    a.comment("%s = %s", keep.number(), new Text(keep.value()));
    Vector value = values.get(keep.value());
    boolean one = numbers.rows() == 1;
    a.op(one ? VectorOp.VMOVSD_TO : VectorOp.VMOVUPS_TO, numbers.address(keep.number()), value);
    values.done(keep.value());
  }

  /** Vectors of 512 bits are compared by halves, since only those leave no mask. */
  private void check(Stage.Range range) {
    a.comment("%s from %s to %s?", new Text(range.value()), range.least(), range.greatest());
    Vector value = values.get(range.value());
    Vector within = registers.take(value.bits());
    Vector other = registers.take(value.bits());
    if (value.bits() == 512) {
      a.op(VectorOp.VEXTRACTF64X4_TO, within.of(256), value, new Immediate(1));
      within(range, within.of(256), within.of(256), other.of(256));
      refuse(within.of(256));
      within(range, value.of(256), within.of(256), other.of(256));
      refuse(within.of(256));
    } else {
      within(range, value, within, other);
      refuse(within);
    }
    registers.giveBack(within);
    registers.giveBack(other);
    values.done(range.value());
  }

  private void within(Stage.Range range, Vector value, Vector into, Vector other) {
    a.op(VectorOp.VCMPPD, other, value, bound(range.least()), AT_LEAST);
    a.op(VectorOp.VCMPPD, into, value, bound(range.greatest()), AT_MOST);
    a.op(VectorOp.VANDPS, into, into, other);
  }

  private MachineOperand bound(double number) {
    return a.constant(Double.doubleToRawLongBits(number));
  }

  private void refuse(Vector within) {
    a.op(VectorOp.VMOVMSKPD, Pointers.I.of(32), within);
    a.op(GeneralOp.CMP, Pointers.I.of(32), new Immediate((1 << within.bits() / 64) - 1));
    a.op(GeneralOp.JNE, refused);
  }
}
