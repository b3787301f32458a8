package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.DefinedStage;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Map;

/** A stage of drawn rows and numbers, by definition. */
final class ByDefinition extends DefinedStage {
  private final Map<Tensor, Rectangle> rows;
  private final Map<Tensor, double[]> columns;
  private final double[][] ofRow;
  private final Map<Tensor, Double> ofCall;
  private int row;

  /**
   * Takes them.
   *
   * @param columns by number, in natural order
   * @param ofRow by number and row
   */
  ByDefinition(
      Map<Tensor, Rectangle> rows,
      Map<Tensor, double[]> columns,
      double[][] ofRow,
      Map<Tensor, Double> ofCall) {
    this.rows = rows;
    this.columns = columns;
    this.ofRow = ofRow;
    this.ofCall = ofCall;
  }

  /** Runs a stage; whether every range holds. */
  boolean run(Stage stage, int count, int from, int to) {
    boolean holds = true;
    for (row = 0; row < count; row++) {
      holds &= run(stage, from, to);
    }
    return holds;
  }

  @Override
  protected double read(Value v, int i) {
    return switch (v.kind()) {
      case ELEMENT -> rows.get(v.tensor()).get(row, i);
      case COLUMN -> columns.get(v.tensor())[i];
      case ROW -> ofRow[v.tensor().place()][row];
      default -> ofCall.get(v.tensor());
    };
  }

  @Override
  protected void take(Stage.Statement statement, int i, double value) {
    switch (statement) {
      case Stage.Keep keep -> ofRow[keep.number().place()][row] = value;
      case Stage.Sum sum -> ofRow[sum.number().place()][row] = value;
      case Stage.Store store -> rows.get(store.rows()).set(row, i, value);
      case Stage.ColumnSum sum -> {
        double[] numbers = columns.get(sum.column());
        double added = numbers[i] + value;
        numbers[i] = sum.value().float64() ? added : (float) added;
      }
      case Stage.Range range -> throw new AssertionError(range);
    }
  }
}
