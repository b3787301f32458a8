package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.function.Consumer;

/** The hidden class with the loops of a stage. */
final class LoopClass {
  /** {@code numbers}: the rows, after the frame. */
  private static final int FROM_ROW = 1;

  private static final int TO_ROW = 2;

  private final LoopPlan plan;

  LoopClass(LoopPlan plan) {
    this.plan = plan;
  }

  /** Writes and defines it. */
  MethodHandles.Lookup define() {
    Stage stage = plan.stage();
    String kind = !stage.hasElements() ? "numbers" : stage.sums().isEmpty() ? "rows" : "sums";
    return new HiddenClass("loops_" + kind, this::methods).define(List.of(stage));
  }

  private void methods(HiddenClass into) {
    method(into, "numbers", CD_boolean, 2, this::numbers);
    for (int r = 0; plan.stage().hasElements() && r < plan.rounds().size(); r++) {
      int round = r;
      int ints = SavingLoop.INTS;
      method(into, "loop" + r, CD_void, ints, code -> new SavingLoop(code, round).emit());
    }
    if (plan.terms() > 0) {
      method(into, "lanes", CD_void, LaneLoop.INTS, code -> new LaneLoop(code).emit(false));
      method(into, "sums", CD_void, LaneLoop.INTS, code -> new LaneLoop(code).emit(true));
    }
  }

  private void method(
      HiddenClass into, String name, ClassDesc result, int ints, Consumer<LoopCode> body) {
    into.method(name, result, 1, ints, code -> body.accept(new LoopCode(code, plan)));
  }

  /** Keeps numbers of rows; returns whether all rows are in range. */
  private void numbers(LoopCode loops) {
    Code code = loops.code;
    CodeBuilder c = code.c;
    int inRange = code.constant(1);
    code.loop(
        "row",
        FROM_ROW,
        TO_ROW,
        1,
        row -> {
          ScalarCode values = loops.numbers(row);
          for (Stage.Statement statement : plan.stage().statements()) {
            if (statement instanceof Stage.Keep keep) {
              values.keep(LoopCode.FRAME, row, keep);
            } else if (statement instanceof Stage.Range range) {
              values.ifOut(range, () -> c.iconst_0().istore(inRange));
            }
          }
        });
    c.iload(inRange).ireturn();
  }
}
