package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.ROW;

import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;

/** Rows of any width that go through the stages together: each stage has a loop over them. */
final class RowGroup {
  private final Assembler a;
  private final Address end;

  /**
   * Rows of a kernel.
   *
   * @param end of all rows, or of those at one stride
   */
  RowGroup(Assembler a, Address end) {
    this.a = a;
    this.end = end;
  }

  /** Takes so many rows from the next one on, or those that are left at one stride. */
  void begin(int rows, Label done) {
    Label all = a.label("all");
    a.op(GeneralOp.MOV, Address.at(AREA, Area.FIRST), ROW);
    a.op(GeneralOp.CMP, ROW, end);
    a.op(GeneralOp.JAE, done);
    a.op(GeneralOp.LEA, General.RAX, Address.at(ROW, rows));
    a.op(GeneralOp.CMP, General.RAX, end);
    a.op(GeneralOp.JBE, all);
    a.op(GeneralOp.MOV, General.RAX, end);
    a.bind(all);
    a.op(GeneralOp.MOV, Address.at(AREA, Area.AFTER), General.RAX);
  }

  /** Goes back to the first row. */
  void first() {
    a.op(GeneralOp.MOV, ROW, Address.at(AREA, Area.FIRST));
  }

  /** Begins a loop over the rows. */
  Label loop() {
    Label row = a.label("row");
    first();
    a.bind(row);
    return row;
  }

  /** Goes on to the next row of a loop. At its end the kernel is at the row after them all. */
  void next(Label row) {
    a.op(GeneralOp.ADD, ROW, new Immediate(1));
    a.op(GeneralOp.CMP, ROW, Address.at(AREA, Area.AFTER));
    a.op(GeneralOp.JB, row);
  }
}
