package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.ROW;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.Code;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import java.util.List;

/**
 * The machine code of a kernel: {@code long rows(area, base of each tensor of elements)}. It does
 * the stages for row after row, and returns how many rows are done: it stops before a row that is
 * out of range. What it is given it leaves as it is, so that it can run again.
 */
final class MachineCode {
  /** What the function must leave as it finds it. */
  private static final List<General> KEPT =
      List.of(General.RBX, General.RBP, General.R12, General.R13, General.R14, General.R15);

  /** Where the first bases come in; others are on the stack. */
  static final List<General> BASES =
      List.of(General.RSI, General.RDX, General.RCX, General.R8, General.R9);

  /** Bits of the floating-point state that are no choice: what instructions have met. */
  private final Assembler a = new Assembler();

  private final Target target;
  private final Registers registers;

  /** Where a row that is out of range goes, and whoever has done all rows. */
  private final Label leave = a.label("leave");

  /** Where whoever has done all rows at one stride goes. */
  private final Label done;

  /** The end of these rows in the area. */
  private final Address end;

  private MachineCode(Target target) {
    this.target = target;
    registers = new Registers(target.avx512());
    done = target.periods() ? a.label("done") : leave;
    end = Address.at(AREA, target.periods() ? Area.END_OF_PERIOD : Area.ROWS);
  }

  static Code of(Target target) {
    MachineCode code = new MachineCode(target);
    code.emit();
    return code.a.code();
  }

  private void emit() {
    begin();
    Label period = a.label("period");
    if (target.periods()) {
      a.op(GeneralOp.MOV, General.RAX, Address.at(AREA, Area.UNTIL));
      endOfPeriod();
      a.bind(period);
    }
    if (target.hasStrips()) {
      strips();
    } else {
      rows();
    }
    if (target.periods()) {
      nextPeriod(period);
    }
    end();
  }

  private void rows() {
    if (target.group() > 1) {
      groups();
    }
    Label row = a.label("row");
    a.op(GeneralOp.CMP, ROW, end);
    a.op(GeneralOp.JAE, done);
    a.bind(row);
    for (Stage stage : target.stages()) {
      stage(stage, 1);
    }
    a.op(GeneralOp.ADD, ROW, new Immediate(1));
    a.op(GeneralOp.CMP, ROW, end);
    a.op(GeneralOp.JB, row);
  }

  /** Several rows at a time, as long as there are so many. */
  private void groups() {
    Label group = a.label("group");
    Label rest = a.label("rest");
    a.bind(group);
    a.op(GeneralOp.LEA, General.RAX, Address.at(ROW, target.group()));
    a.op(GeneralOp.CMP, General.RAX, end);
    a.op(GeneralOp.JA, rest);
    for (Stage stage : target.stages()) {
      stage(stage, target.group());
    }
    a.op(GeneralOp.ADD, ROW, new Immediate(target.group()));
    a.op(GeneralOp.JMP, group);
    a.bind(rest);
  }

  /** Each stage of several rows, and the last one strip by strip. */
  private void strips() {
    RowGroup rows = new RowGroup(a, end);
    Label group = a.label("group");
    a.bind(group);
    rows.begin(target.group(), done);
    Stage last = target.stages().getLast();
    for (Stage stage : target.stages()) {
      if (stage != last) {
        Label row = rows.loop();
        stage(stage, 1);
        rows.next(row);
      }
    }
    a.comment("%s", new Text(last));
    new ElementStage(a, registers, target, last).emitStrips(rows);
    a.op(GeneralOp.JMP, group);
  }

  /** Goes on to rows at another stride, if there are more rows. */
  private void nextPeriod(Label period) {
    a.bind(done);
    a.comment("the next rows at one stride");
    a.op(GeneralOp.MOV, General.RAX, end);
    a.op(GeneralOp.CMP, General.RAX, Address.at(AREA, Area.ROWS));
    a.op(GeneralOp.JAE, leave);
    for (Tensor rows : target.rows()) {
      a.op(GeneralOp.MOV, General.RCX, Address.at(AREA, Area.start(rows)));
      a.op(GeneralOp.ADD, General.RCX, Address.at(AREA, Area.jump(rows)));
      a.op(GeneralOp.MOV, Address.at(AREA, Area.start(rows)), General.RCX);
    }
    a.op(GeneralOp.ADD, General.RAX, Address.at(AREA, Area.PERIOD));
    endOfPeriod();
    a.op(GeneralOp.JMP, period);
  }

  /** Keeps the end of the rows at one stride, which is not after that of all rows. */
  private void endOfPeriod() {
    Label within = a.label("within");
    a.op(GeneralOp.CMP, General.RAX, Address.at(AREA, Area.ROWS));
    a.op(GeneralOp.JBE, within);
    a.op(GeneralOp.MOV, General.RAX, Address.at(AREA, Area.ROWS));
    a.bind(within);
    a.op(GeneralOp.MOV, end, General.RAX);
  }

  private void stage(Stage stage, int rows) {
    a.comment("%s", new Text(stage));
    if (stage.isOfRows()) {
      RowValues numbers = new RowValues(a, null, rows, 0, target.width());
      new RowStage(a, registers, numbers, stage, leave).emit(stage);
    } else {
      new ElementStage(a, registers, target, stage).emit(rows);
    }
  }

  private void begin() {
    for (General register : KEPT) {
      a.op(GeneralOp.PUSH, register);
    }
    List<Tensor> rows = target.rows();
    for (int i = 0; i < rows.size(); i++) {
      General base = base(i);
      a.op(GeneralOp.ADD, base, Address.at(AREA, Area.address(rows.get(i))));
      a.op(GeneralOp.MOV, Address.at(AREA, Area.start(rows.get(i))), base);
    }
    a.comment("the caller may have left another state of the floating-point unit");
    a.op(GeneralOp.STMXCSR, Address.at(AREA, Area.CALLERS_MXCSR));
    whereDifferent("as_contract", Area.MXCSR);
    a.op(GeneralOp.XOR, ROW.of(32), ROW.of(32));
  }

  /** A register with a base. Those that are not passed in one are behind the return address. */
  private General base(int i) {
    if (i < BASES.size()) {
      return BASES.get(i);
    }
    int pushed = KEPT.size() + 1 + i - BASES.size();
    a.op(GeneralOp.MOV, General.RAX, Address.at(General.RSP, pushed * Long.BYTES));
    return General.RAX;
  }

  private void whereDifferent(String name, int state) {
    Address callers = Address.at(AREA, Area.CALLERS_MXCSR);
    FloatingPointState.emitLoad(a, name, callers, Address.at(AREA, state), General.RAX.of(32));
  }

  private void end() {
    a.bind(leave);
    if (target.hasStrips()) {
      new RowGroup(a, end).first();
    }
    if (target.streams()) {
      a.op(GeneralOp.SFENCE);
    }
    whereDifferent("as_caller", Area.CALLERS_MXCSR);
    a.op(GeneralOp.VZEROUPPER);
    a.op(GeneralOp.MOV, General.RAX, ROW);
    for (General register : KEPT.reversed()) {
      a.op(GeneralOp.POP, register);
    }
    a.op(GeneralOp.RET);
  }
}
