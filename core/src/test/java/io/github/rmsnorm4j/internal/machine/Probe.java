package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A function that loads every register from an area of memory, runs one instruction, and stores
 * every register and which conditions hold. The instruction's own memory is in the area, too.
 */
final class Probe {
  /** General registers before, by their numbers. */
  static final int GENERALS = 0;

  /** For each mask a vector with NaN where the mask has ones. */
  static final int MASKS = 128;

  static final int VECTORS = MASKS + 8 * 64;

  /** What the instruction may read and write. */
  static final int MEMORY = VECTORS + 32 * 64;

  private static final int GENERALS_AFTER = MEMORY + 2 * 64;
  private static final int CONDITIONS = GENERALS_AFTER + 128;

  /** For each mask a vector with ones where the mask has them. */
  private static final int MASKS_AFTER = CONDITIONS + 64;

  private static final int VECTORS_AFTER = MASKS_AFTER + 8 * 64;

  static final int BYTES = VECTORS_AFTER + 32 * 64;

  private static final General AREA = General.RDI;

  /** Registers that the instruction finds drawn. */
  private static final List<General> DRAWN =
      IntStream.range(0, 16)
          .mapToObj(n -> new General(n, 64))
          .filter(register -> !isReserved(register))
          .toList();

  private static final List<General> KEPT =
      List.of(General.RBX, General.RBP, General.R12, General.R13, General.R14, General.R15);

  private static final List<GeneralOp> JUMPS =
      Stream.of(GeneralOp.values())
          .filter(op -> op.kind == GeneralOp.Kind.CONDITIONAL_JUMP)
          .toList();

  private static final Immediate UNORDERED = new Immediate(3);
  private static final General RESULT = General.RAX.of(32);

  private final Assembler a = new Assembler();

  /** Whether there are masks, and vectors of 512 bits. */
  private final boolean avx512;

  private final int vectorBits;
  private final int vectors;

  private Probe(boolean avx512) {
    this.avx512 = avx512;
    vectorBits = avx512 ? 512 : 256;
    vectors = avx512 ? 32 : 16;
  }

  /** The function for an instruction. */
  static Code of(RunnableInstruction instruction, boolean avx512) {
    Probe probe = new Probe(avx512);
    probe.load();
    instruction.emit(probe.a);
    probe.store(instruction.op());
    return probe.a.code();
  }

  /** Whether an instruction must leave a register alone, for the sake of what is around it. */
  static boolean isReserved(General register) {
    return register.n() == General.RSP.n() || register.n() == AREA.n();
  }

  private void load() {
    KEPT.forEach(register -> a.op(GeneralOp.PUSH, register));
    for (int n = 1; avx512 && n < 8; n++) {
      Vector nan = new Vector(0, 512);
      a.op(VectorOp.VMOVUPS, nan, Address.at(AREA, MASKS + 64 * n));
      a.op(VectorOp.VCMPPS, new Mask(n), nan, nan, UNORDERED);
    }
    for (int n = 0; n < vectors; n++) {
      a.op(VectorOp.VMOVUPS, new Vector(n, vectorBits), Address.at(AREA, VECTORS + 64 * n));
    }
    DRAWN.forEach(r -> a.op(GeneralOp.MOV, r, Address.at(AREA, GENERALS + 8 * r.n())));
    a.comment("conditions that hold, or not, whatever the instruction does");
    a.op(GeneralOp.CMP, General.RAX, General.RCX);
  }

  private void store(Instruction.Op op) {
    DRAWN.forEach(r -> a.op(GeneralOp.MOV, Address.at(AREA, GENERALS_AFTER + 8 * r.n()), r));
    definedAfter(op).forEach(this::storeCondition);
    for (int n = 0; n < vectors; n++) {
      Address after = Address.at(AREA, VECTORS_AFTER + 64 * n);
      a.op(VectorOp.VMOVUPS_TO, after, new Vector(n, vectorBits));
    }
    if (avx512) {
      storeMasks();
    }
    a.op(GeneralOp.SFENCE);
    a.op(GeneralOp.VZEROUPPER);
    KEPT.reversed().forEach(register -> a.op(GeneralOp.POP, register));
    a.op(GeneralOp.RET);
  }

  /** By way of vectors, which are stored by then. */
  private void storeMasks() {
    Vector zeros = new Vector(0, 512);
    Vector stored = new Vector(1, 512);
    a.op(VectorOp.VXORPS, zeros, zeros, zeros);
    for (int n = 1; n < 8; n++) {
      a.masked(new Mask(n), VectorOp.VBLENDMPS, stored, zeros, a.constant(-1));
      a.op(VectorOp.VMOVUPS_TO, Address.at(AREA, MASKS_AFTER + 64 * n), stored);
    }
  }

  private static List<GeneralOp> definedAfter(Instruction.Op op) {
    return switch (op) {
      case GeneralOp.IMUL -> List.of();
      case GeneralOp.SHL, GeneralOp.SAR -> List.of(GeneralOp.JE, GeneralOp.JNE);
      default -> JUMPS;
    };
  }

  private void storeCondition(GeneralOp jump) {
    Label holds = a.label("holds");
    a.op(GeneralOp.MOV, RESULT, new Immediate(1));
    a.op(jump, holds);
    a.op(GeneralOp.MOV, RESULT, new Immediate(0));
    a.bind(holds);
    a.op(GeneralOp.MOV, Address.at(AREA, CONDITIONS + 4 * jump.number), RESULT);
  }

  /** What is at a place. */
  static String nameOf(int at) {
    if (at >= VECTORS_AFTER) {
      return "vector " + (at - VECTORS_AFTER) / 64 + ", byte " + (at - VECTORS_AFTER) % 64;
    }
    if (at >= MASKS_AFTER) {
      return "mask " + (at - MASKS_AFTER) / 64;
    }
    if (at >= CONDITIONS) {
      return "the condition of jump " + (at - CONDITIONS) / 4;
    }
    if (at >= GENERALS_AFTER) {
      return "general register " + (at - GENERALS_AFTER) / 8;
    }
    return at >= MEMORY ? "memory, byte " + (at - MEMORY) : "what was there before";
  }
}
