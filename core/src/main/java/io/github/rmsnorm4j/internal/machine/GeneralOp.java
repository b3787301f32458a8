package io.github.rmsnorm4j.internal.machine;

import static io.github.rmsnorm4j.internal.machine.GeneralOp.Kind.ARITHMETIC;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.Kind.CONDITIONAL_JUMP;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.Kind.OTHER;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.Kind.SHIFT;

import org.jspecify.annotations.Nullable;

/**
 * Instructions on general registers, jumps, and instructions without operands, with the numbers of
 * Intel's manual (volume 2) for groups with one encoding.
 */
public enum GeneralOp implements Instruction.Op {
  // Two operands: a register or memory, and a register or a number.
  ADD(ARITHMETIC, 0),
  AND(ARITHMETIC, 4),
  SUB(ARITHMETIC, 5),
  XOR(ARITHMETIC, 6),
  CMP(ARITHMETIC, 7),
  MOV,
  /** A register of 32 bits, and memory of 16. */
  MOVZX,
  LEA,
  /** A register, and a register or memory: the product's lower half. */
  IMUL,
  // A register, and a number of bits.
  SHL(SHIFT, 4),
  SAR(SHIFT, 7),
  // One operand.
  PUSH,
  POP,
  STMXCSR,
  LDMXCSR,
  /** Memory that need not be there. */
  PREFETCHT0,
  JMP,
  // Jumps where a condition holds.
  JB(CONDITIONAL_JUMP, 2),
  JAE(CONDITIONAL_JUMP, 3),
  JE(CONDITIONAL_JUMP, 4),
  JNE(CONDITIONAL_JUMP, 5),
  JBE(CONDITIONAL_JUMP, 6),
  JA(CONDITIONAL_JUMP, 7),
  // No operand, and always the same bytes.
  RET(new int[] {0xc3}),
  VZEROUPPER(new int[] {0xc5, 0xf8, 0x77}),
  SFENCE(new int[] {0x0f, 0xae, 0xf8}),
  CPUID(new int[] {0x0f, 0xa2}),
  XGETBV(new int[] {0x0f, 0x01, 0xd0});

  /** Instructions whose encodings differ in a number only. */
  enum Kind {
    ARITHMETIC,
    SHIFT,
    CONDITIONAL_JUMP,
    /** None of these: the instruction has its own encoding. */
    OTHER
  }

  final Kind kind;

  /** The number that distinguishes it from others of the same kind; -1 for {@code OTHER}. */
  final int number;

  /** The bytes; null if they depend on operands. */
  final int @Nullable [] bytes;

  GeneralOp() {
    this(OTHER, -1, null);
  }

  GeneralOp(Kind kind, int number) {
    this(kind, number, null);
  }

  GeneralOp(int[] bytes) {
    this(OTHER, -1, bytes);
  }

  GeneralOp(Kind kind, int number, int @Nullable [] bytes) {
    this.kind = kind;
    this.number = number;
    this.bytes = bytes;
  }

  /** Whether it jumps to a label. */
  boolean jumps() {
    return this == JMP || kind == CONDITIONAL_JUMP;
  }
}
