package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/** Writes vectors of elements, each rounded once to the type of its rows. */
final class Stores {
  private Stores() {}

  static void emit(
      Assembler a,
      Registers registers,
      Stage.Store store,
      Vector value,
      Elements memory,
      boolean streams) {
    Address to = memory.address(store.rows(), store.type());
    switch (store.type()) {
      case FLOAT64 -> a.op(whole(streams), to, value);
      case FLOAT32 -> float32(a, registers, store, value, to, streams);
      case FLOAT16 -> float16(a, registers, value, to, streams);
      case BFLOAT16 -> new Rounding(a, registers).store(value, to);
    }
  }

  private static void float32(
      Assembler a,
      Registers registers,
      Stage.Store store,
      Vector value,
      Address to,
      boolean streams) {
    Vector floats = value;
    if (store.value().float64()) {
      floats = registers.take(Math.max(128, value.bits() / 2));
      a.op(VectorOp.VCVTPD2PS, floats, value);
    }
    a.op(whole(streams), to, floats);
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

  /** The instruction that writes a whole vector, non-temporal or not. */
  static VectorOp whole(boolean streams) {
    return streams ? VectorOp.VMOVNTPS_TO : VectorOp.VMOVUPS_TO;
  }
}
