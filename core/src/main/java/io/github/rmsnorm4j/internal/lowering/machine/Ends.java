package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.BLOCK;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.END;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.I;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WHOLE;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WIDTH;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The elements of a row behind the last whole 32. They are copied to the thread's own memory, where
 * there are 32, and done there like any others: no instruction touches what is behind a row.
 */
final class Ends {
  /** Bytes of the longest vectors that every such processor has. */
  private static final int PIECE = 32;

  private final Assembler a;
  private final Registers registers;
  private final List<End> read;
  private final List<End> written;

  /** Rows or a column: from element 0 on, and where the end is copied to. */
  private record End(General pointer, int copy, int size) {}

  Ends(Assembler a, Registers registers, Pointers pointers, Part part) {
    this.a = a;
    this.registers = registers;
    read = ends(pointers, part.operandsRead(), part.columns());
    written = ends(pointers, part.operandsWritten(), part.columnsWritten());
  }

  private static List<End> ends(
      Pointers pointers, Map<Operand, ElementType> rows, Map<Column, ElementType> columns) {
    List<End> ends = new ArrayList<>();
    rows.forEach(
        (operand, type) ->
            ends.add(new End(pointers.of(operand), Area.end(operand), type.bytes())));
    columns.forEach(
        (column, type) -> ends.add(new End(pointers.of(column), Area.end(column), type.bytes())));
    return ends;
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
  private void copy(List<End> ends, boolean in) {
    Label end = a.label("copied");
    a.op(GeneralOp.CMP, WHOLE, WIDTH);
    a.op(GeneralOp.JE, end);
    if (in) {
      zero(ends);
    }
    a.op(GeneralOp.MOV, I, WHOLE);
    a.op(GeneralOp.XOR, END.of(32), END.of(32));
    for (int n = RowSum.LANES / 2; n >= 1; n /= 2) {
      Label next = a.label("fewer");
      a.op(GeneralOp.MOV, BLOCK, WIDTH);
      a.op(GeneralOp.AND, BLOCK, new Immediate(n));
      a.op(GeneralOp.JE, next);
      for (End each : ends) {
        copy(each, n, in);
      }
      a.op(GeneralOp.ADD, I, new Immediate(n));
      a.op(GeneralOp.ADD, END, new Immediate(n));
      a.bind(next);
    }
    a.bind(end);
  }

  /** What is behind the row counts for nothing, but it must not be what another row left. */
  private void zero(List<End> ends) {
    Vector zero = registers.take(PIECE * Byte.SIZE);
    a.op(VectorOp.VXORPS, zero.of(128), zero.of(128), zero.of(128));
    for (End each : ends) {
      for (int at = 0; at < RowSum.LANES * each.size; at += PIECE) {
        a.op(VectorOp.VMOVUPS_TO, Address.at(AREA, each.copy + at), zero);
      }
    }
    registers.giveBack(zero);
  }

  private void copy(End end, int n, boolean in) {
    int bytes = n * end.size;
    int piece = Math.min(bytes, PIECE);
    for (int at = 0; at < bytes; at += piece) {
      Address row = new Address(end.pointer, I, end.size, at);
      Address own = new Address(AREA, END, end.size, end.copy + at);
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
