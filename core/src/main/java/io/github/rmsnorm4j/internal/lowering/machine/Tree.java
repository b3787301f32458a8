package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.List;

/**
 * The lower levels of the tree in which lanes are added: each of a vector and the one half the
 * vector on.
 */
final class Tree {
  private static final Immediate UPPER = new Immediate(1);

  /** Of four quarters the second and the third change places. */
  static final Immediate MIDDLE = new Immediate(0b11_01_10_00);

  /** Where each of eight rows is, which come as 0 4 1 5 2 6 3 7. */
  private static final int[] ORDER = {0, 2, 4, 6, 1, 3, 5, 7};

  private final Assembler a;
  private final Registers registers;

  Tree(Assembler a, Registers registers) {
    this.a = a;
    this.registers = registers;
  }

  /** Leaves the sum of a row's lanes with its numbers, and gives the registers back. */
  void one(Tensor number, List<Vector> lanes, int ahead) {
    a.comment("%s: the tree of its lanes", number);
    Vector other = registers.take(128);
    for (Vector vector : lanes) {
      twoLanes(vector, other);
    }
    Vector first = lanes.getFirst().of(128);
    if (lanes.size() == 2) {
      Vector odd = lanes.getLast().of(128);
      a.op(VectorOp.VUNPCKHPD, other, first, odd);
      a.op(VectorOp.VUNPCKLPD, first, first, odd);
      a.op(VectorOp.VADDPD, first, first, other);
    }
    a.op(VectorOp.VUNPCKHPD, other, first, first);
    a.op(VectorOp.VADDPD, first, first, other);
    a.op(VectorOp.VMOVSD_TO, RowValues.address(number, ahead), first);
    registers.giveBack(other);
    registers.giveBack(lanes);
  }

  private void twoLanes(Vector lanes, Vector other) {
    for (int bits = lanes.bits(); bits > 128; bits /= 2) {
      VectorOp upper = bits == 512 ? VectorOp.VEXTRACTF64X4_TO : VectorOp.VEXTRACTF128_TO;
      a.op(upper, other.of(bits / 2), lanes.of(bits), UPPER);
      a.op(VectorOp.VADDPD, lanes.of(bits / 2), lanes.of(bits / 2), other.of(bits / 2));
    }
  }

  /**
   * Adds lanes of two vectors that are half a vector apart, so that the sums of both fit in one;
   * and so on, until a vector has one sum of each row. Gives the second register back.
   *
   * @param rows that each of the vectors has lanes of
   */
  Vector joined(Vector x, Vector y, int rows) {
    Vector lower = registers.take(x.bits());
    int lanes = x.bits() / Double.SIZE / rows;
    if (lanes == 2) {
      a.op(VectorOp.VUNPCKLPD, lower, x, y);
      a.op(VectorOp.VUNPCKHPD, x, x, y);
    } else if (x.bits() == 256) {
      a.op(VectorOp.VPERM2F128, lower, x, y, new Immediate(0x20));
      a.op(VectorOp.VPERM2F128, x, x, y, new Immediate(0x31));
    } else {
      a.op(VectorOp.VSHUFF64X2, lower, x, y, new Immediate(lanes == 8 ? 0x44 : 0x88));
      a.op(VectorOp.VSHUFF64X2, x, x, y, new Immediate(lanes == 8 ? 0xee : 0xdd));
    }
    a.op(VectorOp.VADDPD, x, lower, x);
    registers.giveBack(lower);
    registers.giveBack(y);
    return x;
  }

  /** Leaves the sums of as many rows as a vector has doubles with their numbers. */
  void store(Tensor number, List<Vector> halves) {
    Vector sums = halves.getFirst();
    a.comment("%s of %d rows", number, sums.bits() / Double.SIZE);
    if (halves.size() == 2) {
      a.op(VectorOp.VADDPD, sums, sums, halves.getLast());
      registers.giveBack(halves.getLast());
    }
    if (sums.bits() == 512) {
      Vector order = registers.take(512);
      a.op(VectorOp.VMOVUPS, order, a.constants(ORDER));
      a.op(VectorOp.VPERMPD, sums, order, sums);
      registers.giveBack(order);
    } else {
      a.op(VectorOp.VPERMQ, sums, sums, MIDDLE);
    }
    a.op(VectorOp.VMOVUPS_TO, RowValues.address(number, 0), sums);
    registers.giveBack(sums);
  }
}
