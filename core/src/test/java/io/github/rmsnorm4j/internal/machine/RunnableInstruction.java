package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;

/**
 * A drawn instruction that can be run: its memory is where two registers and a displacement say.
 */
record RunnableInstruction(Instruction drawn) {
  static final General BASE = General.R10;
  static final General INDEX = General.R11;

  static RunnableInstruction of(Instruction.Op op, long seed) {
    Assembler assembler = new Assembler();
    new DrawnInstructions(assembler, seed).add(op);
    return new RunnableInstruction((Instruction) assembler.code().lines().getFirst());
  }

  Instruction.Op op() {
    return drawn.op();
  }

  /** Whether a processor has it. */
  boolean isOf(Processor processor) {
    if (op() == VectorOp.VCVTNE2PS2BF16) {
      return processor.bfloat16();
    }
    boolean masks = drawn.operands().stream().anyMatch(Mask.class::isInstance);
    return masks || isEvex() ? processor.avx512() : processor.avx2();
  }

  private boolean isEvex() {
    return op() instanceof VectorOp op
        && (VectorEncoder.encode(drawn, op).withDistance(0)[0] & 0xff) == 0x62;
  }

  /** Adds it. */
  void emit(Assembler a) {
    MachineOperand[] operands = new MachineOperand[drawn.operands().size()];
    for (int i = 0; i < operands.length; i++) {
      operands[i] = runnable(a, drawn.operands().get(i), i == 0);
    }
    if (drawn.mask() == null) {
      a.op(op(), operands);
    } else {
      a.masked(drawn.mask(), (VectorOp) op(), operands);
    }
  }

  /** An operand that can run here: an instruction must not write to a constant. */
  private static MachineOperand runnable(Assembler a, MachineOperand operand, boolean written) {
    return switch (operand) {
      case Constant c when written -> Address.at(BASE, 0);
      case Constant c -> a.constant(0x7fa0_0001_c000_0000L);
      case Address m ->
          new Address(BASE, m.index() == null ? null : INDEX, m.scale(), displacement(m));
      case General g when Probe.isReserved(g) -> new General(g.n() + 8, g.bits());
      default -> operand;
    };
  }

  /** The drawn one, or a multiple of all vectors, which the encoding EVEX shortens. */
  private static int displacement(Address m) {
    return m.displacement() % 2 == 0 ? m.displacement() / 8 % 16 * 64 : m.displacement();
  }

  /** What the first of the registers of its memory has to be, if the second has an index. */
  long base(long memory, long index) {
    for (MachineOperand operand : drawn.operands()) {
      if (operand instanceof Address m) {
        return memory - displacement(m) - (m.index() == null ? 0 : index * m.scale());
      }
    }
    return memory;
  }

  /** The vector registers among its operands. */
  int[] vectors() {
    return drawn.operands().stream()
        .filter(Vector.class::isInstance)
        .mapToInt(operand -> ((Vector) operand).n())
        .toArray();
  }

  @Override
  public String toString() {
    Assembler a = new Assembler();
    emit(a);
    return a.code().lines().getFirst().line().strip();
  }
}
