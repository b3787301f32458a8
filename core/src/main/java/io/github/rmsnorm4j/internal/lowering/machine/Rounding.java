package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/** Float32 rounded to a type of 16 bits: to nearest, ties to even; NaN is the canonical one. */
final class Rounding {
  private static final Mask NAN = new Mask(1);
  private static final Mask OTHER = new Mask(2);

  /** Classes of numbers: quiet NaN, subnormal, signalling NaN. */
  private static final Immediate SUBNORMAL_OR_NAN = new Immediate(0x01 | 0x20 | 0x80);

  /** A comparison: whether one of two is NaN. */
  private static final Immediate UNORDERED = new Immediate(3);

  /** Rounds to nearest, whatever the state of the floating-point unit is. */
  static final Immediate TO_NEAREST = new Immediate(0);

  private final Assembler a;
  private final Registers registers;

  Rounding(Assembler a, Registers registers) {
    this.a = a;
    this.registers = registers;
  }

  /** Rounds, and leaves a float32 with the same value. */
  void round(ElementType to, Vector from, Vector into) {
    switch (to) {
      case BFLOAT16 -> {
        bfloat16(from, into);
        and(into, into, pattern(0xffff0000));
      }
      case FLOAT16 -> {
        oneNan(from, into);
        Vector half = into.of(Math.max(128, into.bits() / 2));
        a.op(VectorOp.VCVTPS2PH_TO, half, into, TO_NEAREST);
        a.op(VectorOp.VCVTPH2PS, into, half);
      }
      default -> throw new UnsupportedOperationException("no machine code that rounds to " + to);
    }
  }

  /** The same number; every NaN is the canonical one. */
  void oneNan(Vector from, Vector into) {
    choose(isNan(from), from, into);
  }

  /** The canonical NaN where there is a NaN, otherwise a number. */
  private void choose(MachineOperand isNan, Vector number, Vector into) {
    Constant nan = pattern(0x7fc00000);
    if (isNan instanceof Vector mask) {
      a.op(VectorOp.VBLENDVPS, into, number, nan, mask);
      registers.giveBack(mask);
    } else {
      a.masked(NAN, VectorOp.VBLENDMPS, into, number, nan);
    }
  }

  /** Leaves the pattern of the bfloat16 in the upper half of each element. */
  void bfloat16(Vector from, Vector into) {
    Vector odd = registers.take(from.bits());
    a.op(VectorOp.VPSRLD, odd, from, new Immediate(16));
    and(odd, odd, pattern(1));
    a.op(VectorOp.VPADDD, odd, odd, pattern(0x7fff));
    MachineOperand isNan = isNan(from);
    a.op(VectorOp.VPADDD, into, from, odd);
    registers.giveBack(odd);
    choose(isNan, into, into);
  }

  /**
   * Stores two vectors as bfloat16. The processor's own instruction makes subnormal results 0, and
   * keeps what a NaN holds: where there is one of these, integers do it.
   */
  void storePair(Vector first, Vector second, Address to, boolean streams) {
    Label integers = a.label("rounded_by_integers");
    Label stored = a.label("stored");
    a.op(VectorOp.VFPCLASSPS, NAN, first, SUBNORMAL_OR_NAN);
    a.op(VectorOp.VFPCLASSPS, OTHER, second, SUBNORMAL_OR_NAN);
    a.op(VectorOp.KORTESTW, NAN, OTHER);
    a.op(GeneralOp.JNE, integers);
    Vector pair = registers.take(first.bits());
    a.op(VectorOp.VCVTNE2PS2BF16, pair, second, first);
    a.op(streams ? VectorOp.VMOVNTPS_TO : VectorOp.VMOVUPS_TO, to, pair);
    a.op(GeneralOp.JMP, stored);
    a.bind(integers);
    for (Vector vector : new Vector[] {first, second}) {
      bfloat16(vector, pair);
      a.op(VectorOp.VPSRLD, pair, pair, new Immediate(16));
      a.op(VectorOp.VPMOVDW_TO, vector == first ? to : to.plus(first.bits() / 16), pair);
    }
    a.bind(stored);
    registers.giveBack(pair);
  }

  /** A mask, or a register of ones where an element is NaN. */
  private MachineOperand isNan(Vector of) {
    MachineOperand result = registers.avx512() ? NAN : registers.take(of.bits());
    a.op(VectorOp.VCMPPS, result, of, of, UNORDERED);
    return result;
  }

  private void and(Vector into, Vector x, MachineOperand y) {
    a.op(registers.avx512() ? VectorOp.VPANDD : VectorOp.VPAND, into, x, y);
  }

  /** A constant in all elements of 32 bits. */
  private Constant pattern(int pattern) {
    return a.constant(Integer.toUnsignedLong(pattern) * 0x1_0000_0001L);
  }
}
