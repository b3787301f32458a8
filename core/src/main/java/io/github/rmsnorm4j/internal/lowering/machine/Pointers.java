package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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

  private final Map<Tensor, General> registers = new TreeMap<>();

  Pointers(Part part) {
    for (Tensor tensor : part.tensors().keySet()) {
      registers.put(tensor, FREE.get(registers.size()));
    }
  }

  /** Loads those of the row. */
  void load(Assembler a) {
    a.comment("where the row is");
    for (Map.Entry<Tensor, General> entry : registers.entrySet()) {
      General register = entry.getValue();
      Address start = Address.at(AREA, Area.address(entry.getKey()));
      if (entry.getKey().access() == Tensor.Access.COLUMN) {
        a.op(GeneralOp.MOV, register, start);
      } else {
        a.op(GeneralOp.MOV, register, Address.at(AREA, Area.stride(entry.getKey())));
        a.op(GeneralOp.IMUL, register, ROW);
        a.op(GeneralOp.ADD, register, start);
      }
    }
  }

  /** Goes on to the next row. */
  void next(Assembler a) {
    a.comment("the next row");
    for (Map.Entry<Tensor, General> entry : registers.entrySet()) {
      if (entry.getKey().access() == Tensor.Access.ELEMENT) {
        a.op(GeneralOp.ADD, entry.getValue(), Address.at(AREA, Area.stride(entry.getKey())));
      }
    }
  }

  /** Element 0 of a row, or column 0. */
  General of(Tensor tensor) {
    return registers.get(tensor);
  }
}
