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

  private static final Immediate UPPER_HALF = new Immediate(16);

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

  /** The elements as they are, except that every NaN becomes the canonical one. */
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
    MachineOperand isNan = isNan(from);
    number(from, into);
    choose(isNan, into, into);
  }

  /** The pattern of the bfloat16 in the upper half of each element that is no NaN. */
  private void number(Vector from, Vector into) {
    Vector odd = registers.take(from.bits());
    a.op(VectorOp.VPSRLD, odd, from, UPPER_HALF);
    and(odd, odd, pattern(1));
    a.op(VectorOp.VPADDD, odd, odd, pattern(0x7fff));
    a.op(VectorOp.VPADDD, into, from, odd);
    registers.giveBack(odd);
  }

  /** Stores a vector as bfloat16; without AVX-512 one of four elements, as row sums have them. */
  void store(Vector value, Address to) {
    Vector patterns = registers.take(value.bits());
    bfloat16(value, patterns);
    a.op(VectorOp.VPSRLD, patterns, patterns, UPPER_HALF);
    if (registers.avx512()) {
      a.op(VectorOp.VPMOVDW_TO, to, patterns);
    } else {
      a.op(VectorOp.VPACKUSDW, patterns, patterns, patterns);
      a.op(VectorOp.VMOVSD_TO, to, patterns);
    }
    registers.giveBack(patterns);
  }

  /** Stores two vectors as bfloat16, the usual way where no element of them is special. */
  void storePair(Vector first, Vector second, Address to, boolean streams) {
    Label special = a.label("special");
    Label stored = a.label("stored");
    Vector pair = registers.take(first.bits());
    if (registers.avx512()) {
      compareClasses(first, second);
      a.op(GeneralOp.JNE, special);
      a.op(VectorOp.VCVTNE2PS2BF16, pair, second, first);
    } else {
      compareNan(first, second, pair);
      a.op(GeneralOp.JNE, special);
      pack(first, second, pair, false);
    }
    a.op(Stores.whole(streams), to, pair);
    a.op(GeneralOp.JMP, stored);
    a.bind(special);
    if (registers.avx512()) {
      store(first, to);
      store(second, to.plus(first.bits() / Short.SIZE));
    } else {
      pack(first, second, pair, true);
      a.op(Stores.whole(streams), to, pair);
    }
    a.bind(stored);
    registers.giveBack(pair);
  }

  /** The processor's own instruction makes subnormal results 0, and keeps what a NaN holds. */
  private void compareClasses(Vector first, Vector second) {
    a.op(VectorOp.VFPCLASSPS, NAN, first, SUBNORMAL_OR_NAN);
    a.op(VectorOp.VFPCLASSPS, OTHER, second, SUBNORMAL_OR_NAN);
    a.op(VectorOp.KORTESTW, NAN, OTHER);
  }

  /** Whether an element of either is NaN. Loops that store have no use for the register. */
  private void compareNan(Vector first, Vector second, Vector either) {
    a.op(VectorOp.VCMPPS, either, first, second, UNORDERED);
    a.op(VectorOp.VMOVMSKPS, Pointers.END.of(32), either);
    a.op(GeneralOp.CMP, Pointers.END.of(32), new Immediate(0));
  }

  private void pack(Vector first, Vector second, Vector into, boolean nan) {
    Vector other = registers.take(first.bits());
    if (nan) {
      bfloat16(first, into);
      bfloat16(second, other);
    } else {
      number(first, into);
      number(second, other);
    }
    a.op(VectorOp.VPSRLD, into, into, UPPER_HALF);
    a.op(VectorOp.VPSRLD, other, other, UPPER_HALF);
    a.op(VectorOp.VPACKUSDW, into, into, other);
    a.op(VectorOp.VPERMQ, into, into, Tree.MIDDLE);
    registers.giveBack(other);
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
