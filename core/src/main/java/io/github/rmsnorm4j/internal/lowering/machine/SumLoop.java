package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.BLOCK;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.END;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.I;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.ODD;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WHOLE;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WIDTH;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
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

/**
 * The row sums of a row, in the order of {@link RowSum}: 32 lanes, whose blocks are added to totals
 * in memory, and then the tree.
 */
final class SumLoop {
  private final Assembler a;
  private final Registers registers;
  private final Target target;
  private final ElementStage elements;
  private final Stage stage;

  /** Of each row sum the accumulators of a sweep. */
  private List<List<Vector>> lanes;

  private final int accumulators;
  private final int sweeps;
  private final int doubles;

  /** 2 if even and odd elements are in different vectors, which take turns; otherwise 1. */
  private final int halves;

  SumLoop(Assembler a, Registers registers, Target target, ElementStage elements, Stage stage) {
    this.a = a;
    this.registers = registers;
    this.target = target;
    this.elements = elements;
    this.stage = stage;
    accumulators = target.accumulators(stage);
    sweeps = target.sweeps(stage);
    doubles = target.bits() / Double.SIZE;
    halves = target.halves(stage);
  }

  /**
   * Leaves of each sum a vector of lanes, or two, see {@link Target#halves}; the caller gives them
   * back.
   */
  List<Vector> emit() {
    lanes = take();
    if (target.width() > 0) {
      narrow();
    } else {
      blocks();
    }
    if (sweeps > 1) {
      loadTotals();
    }
    a.comment("upper levels of the tree");
    List<Vector> left = new ArrayList<>();
    for (List<Vector> ofSum : lanes) {
      left.addAll(joined(ofSum));
    }
    return left;
  }

  private List<List<Vector>> take() {
    List<List<Vector>> taken = new ArrayList<>();
    for (int s = 0; s < stage.sums().size(); s++) {
      List<Vector> ofSum = new ArrayList<>();
      for (int j = 0; j < accumulators; j++) {
        ofSum.add(registers.take(target.bits()));
      }
      taken.add(ofSum);
    }
    return taken;
  }

  private void zero() {
    for (List<Vector> ofSum : lanes) {
      for (Vector register : ofSum) {
        zero(register);
      }
    }
  }

  private void zero(Vector register) {
    Vector low = register.n() < 16 ? register.of(128) : register;
    a.op(VectorOp.VXORPS, low, low, low);
  }

  /** A row of one block at most, whose width is known: all its steps in line. */
  private void narrow() {
    for (int sweep = 0; sweep < sweeps; sweep++) {
      zero();
      for (int first = 0; first < target.width(); first += SumOrder.LANES) {
        step(sweep, first, Elements.Where.ROW);
      }
      if (sweeps > 1) {
        storeTotals(sweep);
      }
    }
  }

  private void storeTotals(int sweep) {
    for (int s = 0; s < lanes.size(); s++) {
      for (int j = 0; j < accumulators; j++) {
        a.op(VectorOp.VMOVUPS_TO, total(s, sweep * accumulators + j), lanes.get(s).get(j));
      }
    }
  }

  private void blocks() {
    Label block = a.label("block");
    Label whole = a.label("whole");
    zero();
    for (int sweep = 0; sweep < sweeps; sweep++) {
      storeTotals(sweep);
    }
    a.op(GeneralOp.XOR, BLOCK.of(32), BLOCK.of(32));
    a.bind(block);
    a.op(GeneralOp.LEA, END, Address.at(BLOCK, SumOrder.BLOCK));
    a.op(GeneralOp.CMP, END, WHOLE);
    a.op(GeneralOp.JBE, whole);
    a.op(GeneralOp.MOV, END, WHOLE);
    a.bind(whole);
    for (int sweep = 0; sweep < sweeps; sweep++) {
      sweep(sweep);
    }
    a.op(GeneralOp.ADD, BLOCK, new Immediate(SumOrder.BLOCK));
    a.op(GeneralOp.CMP, BLOCK, WIDTH);
    a.op(GeneralOp.JB, block);
  }

  private void sweep(int sweep) {
    a.comment("lanes from %d on", sweep * accumulators * doubles);
    Label step = a.label("step");
    Label end = a.label("swept");
    zero();
    a.op(GeneralOp.MOV, I, BLOCK);
    a.op(GeneralOp.CMP, I, END);
    a.op(GeneralOp.JAE, end);
    a.bind(step);
    step(sweep, 0, Elements.Where.LOOP);
    a.op(GeneralOp.ADD, I, new Immediate(SumOrder.LANES));
    a.op(GeneralOp.CMP, I, END);
    a.op(GeneralOp.JB, step);
    a.bind(end);
    rest(sweep);
    addToTotals(sweep);
  }

  /** The elements behind the last whole 32, if they are of this block. */
  private void rest(int sweep) {
    Label none = a.label("no_rest");
    a.op(GeneralOp.CMP, WHOLE, WIDTH);
    a.op(GeneralOp.JE, none);
    a.op(GeneralOp.LEA, I, Address.at(BLOCK, SumOrder.BLOCK));
    a.op(GeneralOp.CMP, I, WIDTH);
    a.op(GeneralOp.JBE, none);
    a.comment("the rest: masks have ones where there are elements");
    a.op(GeneralOp.MOV, I, WHOLE);
    a.op(GeneralOp.SUB, I, WIDTH);
    if (halves == 2) {
      a.op(GeneralOp.LEA, ODD, Address.at(I, 1));
      mask(ODD, 2);
    }
    mask(I, halves);
    step(sweep, 0, Elements.Where.END);
    a.bind(none);
  }

  /** From minus the number of elements to where {@link Area#MASK} has as many ones, or half. */
  private void mask(General register, int by) {
    if (by == 2) {
      a.op(GeneralOp.SAR, register, new Immediate(1));
    }
    a.op(GeneralOp.SHL, register, new Immediate(3));
    a.op(GeneralOp.ADD, register, AREA);
  }

  /** 32 elements, or as many of them as a sweep is for. */
  private void step(int sweep, int first, Elements.Where where) {
    if (sweep == 0 && where != Elements.Where.END) {
      elements.prefetch(first, where);
    }
    for (int j = 0; j < accumulators; j++) {
      int index = sweep * accumulators + j;
      boolean odd = halves == 2 && j % 2 == 1;
      Elements.Half half =
          halves == 1 ? Elements.Half.ALL : odd ? Elements.Half.ODD : Elements.Half.EVEN;
      int lane = (odd ? index - 1 : index) * doubles;
      Address mask =
          where == Elements.Where.END
              ? Address.at(odd ? ODD : I, Area.MASK + lane / halves * Double.BYTES)
              : null;
      ElementVector vector = elements.vector(first + lane, half, where);
      int sum = 0;
      for (Stage.Statement statement : stage.statements()) {
        if (statement instanceof Stage.Sum s) {
          vector.add(s, lanes.get(sum++).get(j), mask);
        } else {
          vector.store(statement);
        }
      }
    }
  }

  private Address total(int sum, int vector) {
    return Address.at(AREA, Area.totals(sum) + vector * target.bits() / Byte.SIZE);
  }

  private void addToTotals(int sweep) {
    a.comment("added to the lanes of the blocks before");
    for (int s = 0; s < lanes.size(); s++) {
      for (int j = 0; j < accumulators; j++) {
        Vector register = lanes.get(s).get(j);
        Address total = total(s, sweep * accumulators + j);
        a.op(VectorOp.VADDPD, register, register, total);
        a.op(VectorOp.VMOVUPS_TO, total, register);
      }
    }
  }

  /** With several sweeps the upper levels of the tree come with it. */
  private void loadTotals() {
    for (int s = 0; s < lanes.size(); s++) {
      for (int j = 0; j < accumulators; j++) {
        loadTotals(lanes.get(s).get(j), s, j, 1);
      }
    }
  }

  /** Adds the totals of a vector and of those that are so many sweeps apart from it. */
  private void loadTotals(Vector into, int sum, int vector, int apart) {
    if (apart == sweeps) {
      a.op(VectorOp.VMOVUPS, into, total(sum, vector));
      return;
    }
    loadTotals(into, sum, vector, 2 * apart);
    if (2 * apart == sweeps) {
      a.op(VectorOp.VADDPD, into, into, total(sum, vector + apart * accumulators));
      return;
    }
    Vector other = registers.take(target.bits());
    loadTotals(other, sum, vector + apart * accumulators, 2 * apart);
    a.op(VectorOp.VADDPD, into, into, other);
    registers.giveBack(other);
  }

  /** Adds the lanes that are in different vectors: each and the one 16 on, then 8, and so on. */
  private List<Vector> joined(List<Vector> vectors) {
    for (int half = vectors.size() / 2; half >= halves; half /= 2) {
      for (int j = 0; j < half; j++) {
        a.op(VectorOp.VADDPD, vectors.get(j), vectors.get(j), vectors.get(j + half));
        registers.giveBack(vectors.get(j + half));
      }
    }
    return vectors.subList(0, halves);
  }
}
