package io.github.rmsnorm4j.internal.lowering.machine;

import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.BLOCK;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.I;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WHOLE;
import static io.github.rmsnorm4j.internal.lowering.machine.Pointers.WIDTH;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import java.util.Map;

/** The elements of a row, of a stage without row sums. */
final class StoreLoop {
  private final Assembler a;
  private final Target target;
  private final Stage stage;
  private final ElementStage elements;

  /** Elements of a vector. */
  private final int step;

  StoreLoop(Assembler a, Target target, Stage stage, ElementStage elements) {
    this.a = a;
    this.target = target;
    this.stage = stage;
    this.elements = elements;
    step = target.elements(stage);
  }

  void emit() {
    if (target.width() > 0) {
      store(target.width(), Elements.Where.ROW);
      return;
    }
    Label loop = a.label("elements");
    Label rest = a.label("rest");
    Label end = a.label("end");
    a.op(GeneralOp.XOR, I.of(32), I.of(32));
    a.op(GeneralOp.CMP, I, WHOLE);
    a.op(GeneralOp.JAE, rest);
    if (target.peels()) {
      peeled(loop, rest);
    } else {
      loop(loop, WHOLE);
    }
    a.bind(rest);
    a.op(GeneralOp.CMP, WHOLE, WIDTH);
    a.op(GeneralOp.JE, end);
    end();
    a.bind(end);
  }

  /** The elements behind the last whole 32. */
  void end() {
    store(SumOrder.LANES, Elements.Where.END);
  }

  /** Elements from {@link Pointers#BLOCK} to {@link Area#STRIP_END}. */
  void strip() {
    a.op(GeneralOp.MOV, I, BLOCK);
    loop(a.label("elements"), Address.at(Pointers.AREA, Area.STRIP_END));
  }

  private void loop(Label loop, MachineOperand end) {
    a.bind(loop);
    store(SumOrder.LANES, Elements.Where.LOOP);
    a.op(GeneralOp.ADD, I, new Immediate(SumOrder.LANES));
    a.op(GeneralOp.CMP, I, end);
    a.op(GeneralOp.JB, loop);
  }

  /**
   * Whole groups of elements. Those inside the row, from where the output is aligned as the longest
   * vectors are, have non-temporal stores. Where it is not aligned from the row's start on, the
   * first and the last group are written as usual, and overlap the others.
   */
  private void peeled(Label loop, Label rest) {
    Map.Entry<Tensor, ElementType> output = stage.written().entrySet().iterator().next();
    Label aligned = a.label("aligned");
    Label last = a.label("last");
    a.comment("elements before the first that is aligned");
    a.op(GeneralOp.XOR, BLOCK.of(32), BLOCK.of(32));
    a.op(GeneralOp.SUB, BLOCK, elements.pointer(output.getKey()));
    a.op(GeneralOp.AND, BLOCK, new Immediate(Area.ALIGNMENT - 1));
    a.op(GeneralOp.JE, aligned);
    store(SumOrder.LANES, Elements.Where.EDGE);
    a.op(
        GeneralOp.SAR,
        BLOCK,
        new Immediate(Integer.numberOfTrailingZeros(output.getValue().bytes())));
    a.op(GeneralOp.MOV, I, BLOCK);
    a.bind(aligned);
    a.comment("where the last group starts");
    a.op(GeneralOp.MOV, BLOCK, WHOLE);
    a.op(GeneralOp.SUB, BLOCK, new Immediate(SumOrder.LANES));
    a.op(GeneralOp.CMP, I, BLOCK);
    a.op(GeneralOp.JA, last);
    a.bind(loop);
    store(SumOrder.LANES, Elements.Where.LOOP);
    a.op(GeneralOp.ADD, I, new Immediate(SumOrder.LANES));
    a.op(GeneralOp.CMP, I, BLOCK);
    a.op(GeneralOp.JBE, loop);
    a.op(GeneralOp.CMP, I, WHOLE);
    a.op(GeneralOp.JE, rest);
    a.bind(last);
    a.op(GeneralOp.MOV, I, BLOCK);
    store(SumOrder.LANES, Elements.Where.EDGE);
  }

  /** So many elements, by vectors; two at a time where two are rounded together. */
  private void store(int n, Elements.Where where) {
    boolean pairs = false;
    for (Stage.Statement statement : stage.statements()) {
      pairs |= isRoundedInPairs(statement);
    }
    for (int first = 0; first < n; first += pairs ? 2 * step : step) {
      ElementVector vector = elements.vector(first, Elements.Half.ALL, where);
      ElementVector next = pairs ? elements.vector(first + step, Elements.Half.ALL, where) : null;
      for (Stage.Statement statement : stage.statements()) {
        if (isRoundedInPairs(statement)) {
          vector.storeWith(next, (Stage.Store) statement);
          continue;
        }
        vector.store(statement);
        if (pairs) {
          next.store(statement);
        }
      }
    }
  }

  private boolean isRoundedInPairs(Stage.Statement statement) {
    return target.roundsPairs()
        && statement instanceof Stage.Store store
        && store.type() == ElementType.BFLOAT16
        && step == target.bits() / Float.SIZE;
  }
}
