package io.github.rmsnorm4j.internal.machine;

/** Instructions on general registers, jumps, and what stands alone. */
public enum GeneralOp implements Instruction.Op {
  // Two operands: a register or memory, and a register or a number. In the order of their encoding.
  ADD,
  OR,
  ADC,
  SBB,
  AND,
  SUB,
  XOR,
  CMP,
  MOV,
  /** A register of 32 bits, and memory of 16. */
  MOVZX,
  LEA,
  /** A register, and a register or memory: the product's lower half. */
  IMUL,
  /** A register, and a number of bits. */
  SHL,
  SHR,
  SAR,
  // One operand.
  PUSH,
  POP,
  PREFETCHT0,
  STMXCSR,
  LDMXCSR,
  JMP,
  // Jumps where a condition holds. In the order of their encoding, with those left out that none
  // needs.
  JB(0x2),
  JAE(0x3),
  JE(0x4),
  JNE(0x5),
  JBE(0x6),
  JA(0x7),
  JL(0xc),
  JGE(0xd),
  JLE(0xe),
  JG(0xf),
  // No operand, and always the same bytes.
  RET(new int[] {0xc3}),
  VZEROUPPER(new int[] {0xc5, 0xf8, 0x77}),
  SFENCE(new int[] {0x0f, 0xae, 0xf8}),
  CPUID(new int[] {0x0f, 0xa2}),
  XGETBV(new int[] {0x0f, 0x01, 0xd0});

  /** The condition of a jump; -1 for others. */
  final int condition;

  /** Null where they depend on operands. */
  final int[] bytes;

  GeneralOp() {
    this(-1, null);
  }

  GeneralOp(int condition) {
    this(condition, null);
  }

  GeneralOp(int[] bytes) {
    this(-1, bytes);
  }

  GeneralOp(int condition, int[] bytes) {
    this.condition = condition;
    this.bytes = bytes;
  }

  /** Whether it goes to a label. */
  boolean jumps() {
    return this == JMP || condition >= 0;
  }
}
