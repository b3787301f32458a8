package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The kinds of statements that programs have. */
final class Reach {
  private static final int[] WIDTHS = {2, SumOrder.SUPER_BLOCK + 2, Forward.ONE_PASS + 2};

  private Reach() {}

  /** What is said of a step: one line for each statement, and one if rows are long. */
  static Set<String> of(Formula formula, Program program, Step step, int width) {
    Set<String> kinds = new TreeSet<>();
    String direction = formula instanceof ForwardFormula ? "forward " : "backward ";
    boolean wide = program.wide() != null && program.wide().contains(step);
    String rows = wide ? "wide " : program.wide() == null ? "float64 " : "float32 ";
    for (Stage.Statement statement : step.stage().statements()) {
      String target = target(statement);
      String kind = direction + rows + step.extent() + " " + target;
      kinds.add(kind + " from " + numbers(statement.value(), new TreeSet<>()));
      if (width > SumOrder.SUPER_BLOCK && statement.isOfElements()) {
        boolean ofRow = !(statement instanceof Stage.ColumnSum);
        String longRows = "long " + direction + (wide && ofRow ? "wide " : "");
        kinds.add(longRows + step.extent() + " " + target);
      }
    }
    return kinds;
  }

  private static String target(Stage.Statement statement) {
    return switch (statement) {
      case Stage.Sum sum -> sum.number().name();
      case Stage.Keep keep -> keep.number().name();
      case Stage.Store store -> store.rows().name();
      case Stage.ColumnSum sum -> sum.column().name();
      case Stage.Range range -> "range";
    };
  }

  /** The numbers of the row that a value is made of. */
  private static Set<String> numbers(Value value, Set<String> into) {
    if (value.kind() == Value.Kind.ROW) {
      into.add(value.tensor().name());
    }
    value.operands().forEach(operand -> numbers(operand, into));
    return into;
  }

  /** Of the steps of every program. */
  static Set<String> all() {
    Set<String> kinds = new TreeSet<>();
    for (int width : WIDTHS) {
      for (int choice = 0; choice < 64; choice++) {
        boolean float64 = (choice & 1) != 0;
        boolean whole = (choice & 2) != 0;
        boolean residual = (choice & 4) != 0;
        boolean inPlace = (choice & 8) != 0;
        boolean kept = (choice & 16) != 0;
        boolean output = (choice & 32) != 0;
        int part = whole ? width : width - 1;
        Storage storage = residual ? storage(float64, Forward.RESIDUAL) : storage(float64);
        Consumer<Formula> add = formula -> add(formula, storage, width, part, inPlace, kinds);
        Storage ofGate = storage(float64, Forward.Z, Backward.DZ);
        Consumer<Formula> addGated = formula -> add(formula, ofGate, width, part, false, kinds);
        for (EpsilonPlacement placement : EpsilonPlacement.values()) {
          NormSpec rms = NormSpec.RMSNORM.withEpsilonPlacement(placement);
          NormSpec layer = NormSpec.LAYERNORM.withEpsilonPlacement(placement);
          NormSpec length = NormSpec.L2.withEpsilonPlacement(placement);
          for (NormSpec spec : whole ? List.of(rms, layer, length) : List.of(rms)) {
            boolean ofOutput = output && whole;
            add.accept(new ForwardFormula(spec, null, true, true));
            add.accept(
                new BackwardFormula(spec, ofOutput, kept || ofOutput, true, true, true, true));
            for (Gate gate : Gate.values()) {
              if (gate.isAfter() || gate == Gate.SILU_BEFORE && !spec.isCentred()) {
                NormSpec gated = spec.withGate(gate);
                addGated.accept(new ForwardFormula(gated, null, true, true));
                addGated.accept(new BackwardFormula(gated, false, kept, true, true, true, true));
              }
            }
          }
          add.accept(new ForwardFormula(rms.withCastOrder(CastOrder.ONNX), null, true, false));
        }
      }
    }
    return kinds;
  }

  private static Storage storage(boolean float64, Tensor... more) {
    ElementType type = float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    Map<Tensor, ElementType> types = new HashMap<>();
    for (Tensor rows : List.of(Forward.X, Forward.Y, Backward.DY, Backward.DX)) {
      types.put(rows, type);
    }
    for (Tensor rows : more) {
      types.put(rows, type);
    }
    return new Storage(float64, Set.of(), types);
  }

  private static void add(
      Formula formula, Storage storage, int width, int part, boolean inPlace, Set<String> into) {
    Program program = formula.program(storage, width, part, inPlace);
    for (List<Step> steps :
        program.wide() == null
            ? List.of(program.steps())
            : List.of(program.steps(), program.wide())) {
      steps.forEach(step -> into.addAll(of(formula, program, step, width)));
    }
  }
}
