package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.AREA;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.BLOCK;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.END;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WHOLE;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WIDTH;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A stage that has elements, for the row that the kernel is at and those after it. */
final class ElementStage {
  /** Columns that several rows are added to, one row after the other. */
  private static final int STRIP = 512;

  private final Assembler a;
  private final Registers registers;
  private final Target target;
  private final Stage stage;
  private final Pointers pointers;
  private final Ends ends;
  private final Broadcasts broadcasts;
  private final Tree tree;

  ElementStage(Assembler a, Registers registers, Target target, Stage stage) {
    this.a = a;
    this.registers = registers;
    this.target = target;
    this.stage = stage;
    pointers = new Pointers(a, target, stage);
    ends = new Ends(a, registers, pointers, stage);
    broadcasts = new Broadcasts(a, registers, target, stage);
    tree = new Tree(a, registers);
  }

  /** Does it for one row, or for as many rows as a vector has doubles. */
  void emit(int rows) {
    if (rows > 1) {
      broadcasts.tabulate(rows);
    }
    if (rows > 1 && !stage.sums().isEmpty() && canJoin(rows)) {
      List<Vector> lanes = joined(0, rows);
      for (int s = 0; s < stage.sums().size(); s++) {
        tree.store(stage.sums().get(s).number(), ofSum(s, lanes));
      }
      return;
    }
    for (int r = 0; r < rows; r++) {
      List<Vector> lanes = row(r);
      for (int s = 0; s < stage.sums().size(); s++) {
        tree.one(stage.sums().get(s).number(), ofSum(s, lanes), r);
      }
    }
  }

  private List<Vector> ofSum(int sum, List<Vector> lanes) {
    int halves = target.halves(stage);
    return lanes.subList(sum * halves, (sum + 1) * halves);
  }

  /** Whether there are registers for the lanes of rows that wait for others. */
  private boolean canJoin(int rows) {
    int waiting = target.halves(stage) * Integer.numberOfTrailingZeros(rows);
    return stage.sums().size() * waiting + broadcasts.others() <= registers.free();
  }

  /** The lanes of some rows, by vectors as of one row, joined. */
  private List<Vector> joined(int first, int rows) {
    if (rows == 1) {
      return row(first);
    }
    List<Vector> one = joined(first, rows / 2);
    List<Vector> other = joined(first + rows / 2, rows / 2);
    List<Vector> joined = new ArrayList<>();
    for (int s = 0; s < one.size(); s++) {
      joined.add(tree.joined(one.get(s), other.get(s), rows / 2));
    }
    return joined;
  }

  /**
   * Does a row.
   *
   * @param ahead rows from the one that the kernel is at
   * @return of each row sum a vector of lanes, or two, see {@link Target#halves}
   */
  private List<Vector> row(int ahead) {
    if (ahead == 0) {
      pointers.load();
    } else {
      pointers.next();
    }
    RowValues numbers = new RowValues(a, pointers, 1, ahead, target.width());
    new RowStage(a, registers, numbers, stage, null).emit(stage);
    if (target.width() == 0) {
      width();
      ends.read();
    }
    broadcasts.make(numbers);
    broadcasts.load(stage.literals());
    List<Vector> lanes = loops();
    if (target.width() == 0) {
      ends.write();
    }
    broadcasts.end();
    return lanes;
  }

  private List<Vector> loops() {
    if (stage.sums().isEmpty()) {
      new StoreLoop(a, target, stage, this).emit();
      return List.of();
    }
    return new SumLoop(a, registers, target, this, stage).emit();
  }

  /** The registers that the loops of a stage need at most, if no value of the row has one. */
  static int registers(Target target, Stage stage) {
    Registers all = Registers.unlimited(target.avx512());
    ElementStage alone = new ElementStage(new Assembler(), all, target, stage);
    alone.broadcasts.leaveInMemory();
    alone.loops();
    return all.most();
  }

  /** Does some columns of all rows that go together, then the next ones, and at last the ends. */
  void emitStrips(RowGroup rows) {
    Label strip = a.label("strip");
    Label whole = a.label("whole");
    Label rest = a.label("rest");
    Label done = a.label("done");
    width();
    a.op(GeneralOp.XOR, BLOCK.of(32), BLOCK.of(32));
    a.op(GeneralOp.CMP, BLOCK, WHOLE);
    a.op(GeneralOp.JAE, rest);
    a.bind(strip);
    a.op(GeneralOp.LEA, END, Address.at(BLOCK, STRIP));
    a.op(GeneralOp.CMP, END, WHOLE);
    a.op(GeneralOp.JBE, whole);
    a.op(GeneralOp.MOV, END, WHOLE);
    a.bind(whole);
    a.op(GeneralOp.MOV, Address.at(AREA, Area.STRIP_END), END);
    Label row = rows.loop();
    load();
    new StoreLoop(a, target, stage, this).strip();
    broadcasts.end();
    rows.next(row);
    a.op(GeneralOp.MOV, BLOCK, Address.at(AREA, Area.STRIP_END));
    a.op(GeneralOp.CMP, BLOCK, WHOLE);
    a.op(GeneralOp.JB, strip);
    a.bind(rest);
    a.op(GeneralOp.CMP, WHOLE, WIDTH);
    a.op(GeneralOp.JE, done);
    row = rows.loop();
    load();
    ends.read();
    new StoreLoop(a, target, stage, this).end();
    ends.write();
    broadcasts.end();
    rows.next(row);
    a.bind(done);
  }

  /** Loads what is one for a row. */
  private void load() {
    pointers.load();
    RowValues numbers = new RowValues(a, pointers, 1, 0, 0);
    new RowStage(a, registers, numbers, stage, null).emit(stage);
    broadcasts.make(numbers);
    broadcasts.load(stage.literals());
  }

  private void width() {
    int width = stage.sums().isEmpty() ? Area.WIDTH : Area.SUMMED;
    a.op(GeneralOp.MOV, WIDTH, Address.at(AREA, width));
    a.op(GeneralOp.MOV, WHOLE, WIDTH);
    a.op(GeneralOp.AND, WHOLE, new Immediate(-SumOrder.LANES));
  }

  /** The address of the row of an operand. */
  General pointer(Tensor rows) {
    return pointers.of(rows);
  }

  /**
   * Prefetches the 32 elements that are some way behind those from one on, and for later stages.
   */
  void prefetch(int first, Elements.Where where) {
    Elements memory =
        new Elements(a, pointers, broadcasts.places(), first, Elements.Half.ALL, where);
    for (Map.Entry<Tensor, ElementType> rows : target.prefetched(stage).entrySet()) {
      memory.prefetch(rows.getKey(), rows.getValue(), Elements.AHEAD);
    }
    for (Map.Entry<Tensor, ElementType> rows : target.prefetchedForLater(stage).entrySet()) {
      memory.prefetch(rows.getKey(), rows.getValue(), 0);
    }
  }

  /** A vector of elements from one on, or of every second one. */
  ElementVector vector(int first, Elements.Half half, Elements.Where where) {
    Elements memory = new Elements(a, pointers, broadcasts.places(), first, half, where);
    return new ElementVector(a, registers, target, stage, memory);
  }
}
