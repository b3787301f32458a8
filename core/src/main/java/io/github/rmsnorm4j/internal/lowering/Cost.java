package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;

/** The approximate number of calls of the Vector API of a stage for one vector. */
final class Cost {
  private static final int READ_BFLOAT16 = 3;
  private static final int WRITE_BFLOAT16 = 9;
  private static final int ROUND_TO_BFLOAT16 = 12;
  private static final int ROUND_TO_FLOAT16 = 26;
  private static final int COMPARE_WITH_RANGE = 4;

  private Cost() {}

  /** Of a stage of rows, for a vector of rows. */
  static int ofRows(Stage stage) {
    int calls = 0;
    for (Value value : stage.values()) {
      calls += of(value);
    }
    for (Stage.Statement statement : stage.statements()) {
      calls += statement instanceof Stage.Range ? COMPARE_WITH_RANGE : 1;
    }
    return calls;
  }

  /** For a vector of elements. */
  static int of(Stage stage) {
    int calls = 0;
    for (Value value : stage.values()) {
      calls += value.perElement() ? of(value) : 0;
    }
    for (Stage.Statement statement : stage.statements()) {
      if (statement.isOfElements()) {
        boolean encodes =
            statement instanceof Stage.Store store && store.type() == ElementType.BFLOAT16;
        calls += encodes ? WRITE_BFLOAT16 : 1;
      }
    }
    return calls;
  }

  private static int of(Value value) {
    return switch (value.kind()) {
      case ELEMENT -> value.type() == ElementType.BFLOAT16 ? READ_BFLOAT16 : 1;
      case CAST -> value.type() == ElementType.BFLOAT16 ? ROUND_TO_BFLOAT16 : ROUND_TO_FLOAT16;
      case ONE_NAN -> 2;
      case POWER -> 4;
      default -> 1;
    };
  }
}
