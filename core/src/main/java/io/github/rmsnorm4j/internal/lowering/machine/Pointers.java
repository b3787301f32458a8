package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Where the rows and columns of a part are: in general registers, for the row that it is at. */
final class Pointers {
  /** The thread's memory, see {@link Area}. */
  static final General AREA = General.RDI;

  /** The row that a kernel is at. */
  static final General ROW = General.RBP;

  /** The element of the row. */
  static final General I = General.RAX;

  /** Where the loop over elements ends. */
  static final General END = General.RCX;

  /** Elements of the row, and those of them that are whole groups of 32. */
  static final General WIDTH = General.RDX;

  static final General WHOLE = General.RBX;

  /** The first element of a block; free where there is none. */
  static final General BLOCK = General.R15;

  private static final List<General> FREE =
      List.of(
          General.RSI,
          General.R8,
          General.R9,
          General.R10,
          General.R11,
          General.R12,
          General.R13,
          General.R14);

  private final Map<Operand, General> rows = new EnumMap<>(Operand.class);
  private final Map<Column, General> columns = new EnumMap<>(Column.class);

  Pointers(Part part) {
    int n = 0;
    for (Operand operand : part.operands().keySet()) {
      rows.put(operand, FREE.get(n++));
    }
    for (Column column : part.columns().keySet()) {
      columns.put(column, FREE.get(n++));
    }
  }

  /** Loads those of the row. */
  void load(Assembler a) {
    a.comment("where the row is");
    for (Operand operand : rows.keySet()) {
      General register = rows.get(operand);
      a.op(GeneralOp.MOV, register, Address.at(AREA, Area.stride(operand)));
      a.op(GeneralOp.IMUL, register, ROW);
      a.op(GeneralOp.ADD, register, Address.at(AREA, Area.address(operand)));
    }
    for (Column column : columns.keySet()) {
      a.op(GeneralOp.MOV, columns.get(column), Address.at(AREA, Area.address(column)));
    }
  }

  /** Goes on to the next row. */
  void next(Assembler a) {
    a.comment("the next row");
    for (Operand operand : rows.keySet()) {
      a.op(GeneralOp.ADD, rows.get(operand), Address.at(AREA, Area.stride(operand)));
    }
  }

  /** An operand's element 0. */
  General of(Operand operand) {
    return rows.get(operand);
  }

  General of(Column column) {
    return columns.get(column);
  }
}
