package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.BLOCK;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.END;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.I;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WHOLE;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WIDTH;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.Map;
import java.util.TreeMap;

/**
 * The elements of a row behind the last whole 32. They are copied to the thread's own memory, where
 * there are 32, and done there like any others: no instruction touches what is behind a row.
 */
final class Ends {
  /** Bytes of the longest vectors that every such processor has. */
  private static final int PIECE = 32;

  private final Assembler a;
  private final Registers registers;
  private final Pointers pointers;
  private final Map<Tensor, ElementType> read;
  private final Map<Tensor, ElementType> written;

  Ends(Assembler a, Registers registers, Pointers pointers, Stage stage) {
    this.a = a;
    this.registers = registers;
    this.pointers = pointers;
    written = stage.written();
    read = new TreeMap<>(stage.read());
    for (Stage.ColumnSum sum : stage.columnSums()) {
      read.put(sum.column(), written.get(sum.column()));
    }
  }

  /** Copies what is read. */
  void read() {
    a.comment("the end of the row, to where there are 32 elements");
    copy(read, true);
  }

  /** Copies what was written. */
  void write() {
    if (!written.isEmpty()) {
      a.comment("the end of the row, to where it belongs");
      copy(written, false);
    }
  }

  /** Sixteen elements, eight, four, two and one, as far as there are so many. */
  private void copy(Map<Tensor, ElementType> tensors, boolean in) {
    Label end = a.label("copied");
    a.op(GeneralOp.CMP, WHOLE, WIDTH);
    a.op(GeneralOp.JE, end);
    if (in) {
      zero(tensors);
    }
    a.op(GeneralOp.MOV, I, WHOLE);
    a.op(GeneralOp.XOR, END.of(32), END.of(32));
    for (int n = SumOrder.LANES / 2; n >= 1; n /= 2) {
      Label next = a.label("fewer");
      a.op(GeneralOp.MOV, BLOCK, WIDTH);
      a.op(GeneralOp.AND, BLOCK, new Immediate(n));
      a.op(GeneralOp.JE, next);
      for (Map.Entry<Tensor, ElementType> entry : tensors.entrySet()) {
        int size = entry.getValue().bytes();
        copy(pointers.of(entry.getKey()), Area.end(entry.getKey()), size, n, in);
      }
      a.op(GeneralOp.ADD, I, new Immediate(n));
      a.op(GeneralOp.ADD, END, new Immediate(n));
      a.bind(next);
    }
    a.bind(end);
  }

  /** What is behind the row counts for nothing, but it must not be what another row left. */
  private void zero(Map<Tensor, ElementType> tensors) {
    Vector zero = registers.take(PIECE * Byte.SIZE);
    a.op(VectorOp.VXORPS, zero.of(128), zero.of(128), zero.of(128));
    for (Map.Entry<Tensor, ElementType> entry : tensors.entrySet()) {
      zero(zero, Area.end(entry.getKey()), entry.getValue().bytes());
    }
    registers.giveBack(zero);
  }

  private void zero(Vector zero, int end, int size) {
    for (int at = 0; at < SumOrder.LANES * size; at += PIECE) {
      a.op(VectorOp.VMOVUPS_TO, Address.at(AREA, end + at), zero);
    }
  }

  private void copy(General pointer, int end, int size, int n, boolean in) {
    int bytes = n * size;
    int piece = Math.min(bytes, PIECE);
    for (int at = 0; at < bytes; at += piece) {
      Address row = new Address(pointer, I, size, at);
      Address own = new Address(AREA, END, size, end + at);
      copy(in ? row : own, in ? own : row, piece);
    }
  }

  private void copy(Address from, Address to, int bytes) {
    if (bytes >= 16) {
      Vector register = registers.take(bytes * Byte.SIZE);
      a.op(VectorOp.VMOVUPS, register, from);
      a.op(VectorOp.VMOVUPS_TO, to, register);
      registers.giveBack(register);
    } else if (bytes == Short.BYTES) {
      a.op(GeneralOp.MOVZX, BLOCK.of(32), from);
      a.op(GeneralOp.MOV, to, BLOCK.of(16));
    } else {
      General register = BLOCK.of(bytes * Byte.SIZE);
      a.op(GeneralOp.MOV, register, from);
      a.op(GeneralOp.MOV, to, register);
    }
  }
}
