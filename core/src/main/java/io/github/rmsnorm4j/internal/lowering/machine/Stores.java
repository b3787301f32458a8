package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/** Writes vectors of elements, each rounded once to the type of its rows. */
final class Stores {
  /** Puts the second of four quarters in the place of the third. */
  static final Immediate SECOND_FROM_THIRD = new Immediate(0b11_01_10_00);

  private Stores() {}

  static void emit(
      Assembler a,
      Registers registers,
      Part.Store store,
      Vector value,
      Elements memory,
      boolean streams) {
    Address to = memory.address(store.rows(), store.type());
    switch (store.type()) {
      case FLOAT32 -> float32(a, registers, store, value, to, streams);
      case FLOAT16 -> float16(a, registers, value, to, streams);
      case BFLOAT16 -> bfloat16(a, registers, value, to);
      default ->
          throw new UnsupportedOperationException("no machine code that writes " + store.type());
    }
  }

  private static void float32(
      Assembler a,
      Registers registers,
      Part.Store store,
      Vector value,
      Address to,
      boolean streams) {
    Vector floats = value;
    if (store.value().float64()) {
      floats = registers.take(Math.max(128, value.bits() / 2));
      a.op(VectorOp.VCVTPD2PS, floats, value);
    }
    a.op(streams ? VectorOp.VMOVNTPS_TO : VectorOp.VMOVUPS_TO, to, floats);
    if (floats != value) {
      registers.giveBack(floats);
    }
  }

  private static void float16(
      Assembler a, Registers registers, Vector value, Address to, boolean streams) {
    if (!streams || value.bits() == 128) {
      a.op(VectorOp.VCVTPS2PH_TO, to, value, Rounding.TO_NEAREST);
      return;
    }
    Vector patterns = registers.take(value.bits() / 2);
    a.op(VectorOp.VCVTPS2PH_TO, patterns, value, Rounding.TO_NEAREST);
    a.op(VectorOp.VMOVNTPS_TO, to, patterns);
    registers.giveBack(patterns);
  }

  private static void bfloat16(Assembler a, Registers registers, Vector value, Address to) {
    Vector patterns = registers.take(value.bits());
    new Rounding(a, registers).bfloat16(value, patterns);
    a.op(VectorOp.VPSRLD, patterns, patterns, new Immediate(16));
    if (registers.avx512()) {
      a.op(VectorOp.VPMOVDW_TO, to, patterns);
    } else {
      a.op(VectorOp.VPACKUSDW, patterns, patterns, patterns);
      if (patterns.bits() == 128) {
        a.op(VectorOp.VMOVSD_TO, to, patterns);
      } else {
        a.op(VectorOp.VPERMQ, patterns, patterns, SECOND_FROM_THIRD);
        a.op(VectorOp.VMOVUPS_TO, to, patterns.of(128));
      }
    }
    registers.giveBack(patterns);
  }
}
