package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where the rows and columns of a stage are, for the row that it is at: in general registers. If
 * there are not enough of them, the last tensors share one, which is loaded at each use.
 */
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

  /** The address of the mask of odd elements, of stages that have them in vectors of their own. */
  static final General ODD = General.R14;

  private static final List<General> FREE =
      List.of(
          General.RSI,
          General.R8,
          General.R9,
          General.R10,
          General.R11,
          General.R12,
          General.R13,
          ODD);

  private final Assembler a;

  /** By tensor; all that have the same register as another one have {@link #shared}. */
  private final Map<Tensor, General> registers = new TreeMap<>();

  /** The register of the last tensors; null where each has one of its own. */
  private final General shared;

  /** Pointers to what a stage reads, writes or prefetches. */
  Pointers(Assembler a, Target target, Stage stage) {
    this.a = a;
    List<General> free = new ArrayList<>(FREE);
    if (target.halves(stage) == 2) {
      free.remove(ODD);
    }
    int last = free.size() - 1;
    Set<Tensor> tensors = new TreeSet<>(stage.tensors().keySet());
    tensors.addAll(target.prefetchedForLater(stage).keySet());
    shared = tensors.size() > free.size() ? free.get(last) : null;
    for (Tensor tensor : tensors) {
      registers.put(tensor, free.get(Math.min(registers.size(), last)));
    }
  }

  /** Loads those of the row. */
  void load() {
    a.comment("where the row is");
    for (Map.Entry<Tensor, General> entry : registers.entrySet()) {
      Tensor tensor = entry.getKey();
      General register = entry.getValue();
      if (tensor.access() == Tensor.Access.ELEMENT) {
        a.op(GeneralOp.MOV, register, Address.at(AREA, Area.stride(tensor)));
        a.op(GeneralOp.IMUL, register, ROW);
        a.op(GeneralOp.ADD, register, Address.at(AREA, Area.start(tensor)));
        keep(tensor, register);
      } else if (stays(tensor)) {
        a.op(GeneralOp.MOV, register, home(tensor));
      }
    }
  }

  /** Goes on to the next row. */
  void next() {
    a.comment("the next row");
    for (Tensor tensor : registers.keySet()) {
      if (tensor.access() == Tensor.Access.ELEMENT) {
        General register = of(tensor);
        a.op(GeneralOp.ADD, register, Address.at(AREA, Area.stride(tensor)));
        keep(tensor, register);
      }
    }
  }

  private void keep(Tensor rows, General register) {
    if (!stays(rows)) {
      a.op(GeneralOp.MOV, home(rows), register);
    }
  }

  /** Where a pointer is in memory. */
  private static Address home(Tensor tensor) {
    boolean column = tensor.access() == Tensor.Access.COLUMN;
    return Address.at(AREA, column ? Area.address(tensor) : Area.row(tensor));
  }

  /** Whether a tensor has a register of its own. */
  boolean stays(Tensor tensor) {
    return !registers.get(tensor).equals(shared);
  }

  /**
   * Element 0 of a row, or column 0. A register that several tensors share is loaded, and has it
   * until another tensor is asked for.
   */
  General of(Tensor tensor) {
    General register = registers.get(tensor);
    if (!stays(tensor)) {
      a.op(GeneralOp.MOV, register, home(tensor));
    }
    return register;
  }
}
