package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.Rounding;
import java.util.Arrays;
import java.util.List;

/**
 * Stages as docs/numerics.md defines them, element by element, for one row at a time. A float32 is
 * held as the float64 that is equal to it. A float64 result of two float32 that is rounded to
 * float32 is the float32 result.
 */
public abstract class DefinedStage {
  /** An element, a number of a column or of the row, or one of the call. */
  protected abstract double read(Value v, int i);

  /** Keeps, stores or adds up what a statement computes of element i, or of the row. */
  protected abstract void take(Stage.Statement statement, int i, double value);

  /** Runs a stage; whether every range holds. */
  protected final boolean run(Stage stage, int from, int to) {
    boolean holds = true;
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep) {
        take(statement, 0, value(statement.value(), 0));
      } else if (statement instanceof Stage.Range range) {
        double number = value(range.value(), 0);
        holds &= range.least() <= number && number <= range.greatest();
      }
    }
    List<Stage.Statement> statements =
        stage.statements().stream().filter(Stage.Statement::isOfElements).toList();
    double[] values = new double[statements.size()];
    OrderedSum[] sums = new OrderedSum[values.length];
    Arrays.setAll(sums, s -> new OrderedSum());
    for (int i = from; i < to; i++) {
      for (int s = 0; s < values.length; s++) {
        values[s] = value(statements.get(s).value(), i);
        sums[s].add(values[s]);
      }
      for (int s = 0; s < values.length; s++) {
        if (!(statements.get(s) instanceof Stage.Sum)) {
          take(statements.get(s), i, values[s]);
        }
      }
    }
    for (int s = 0; s < values.length; s++) {
      if (statements.get(s) instanceof Stage.Sum) {
        take(statements.get(s), to, sums[s].total());
      }
    }
    return holds;
  }

  protected final double value(Value v, int i) {
    List<Value> of = v.operands();
    double a = of.isEmpty() ? 0 : value(of.get(0), v.kind() == Value.Kind.FIRST ? 0 : i);
    double b = of.size() < 2 ? 0 : of.get(1) == of.get(0) ? a : value(of.get(1), i);
    double value =
        switch (v.kind()) {
          case ELEMENT, COLUMN, ROW, CALL -> read(v, i);
          case LITERAL -> v.number();
          case FIRST, WIDENED, ROUNDED, ONE_NAN -> a;
          case CAST -> Rounding.to(v.type(), a);
          case ROOT -> Math.sqrt(a);
          case PLUS -> a + b;
          case MINUS -> a - b;
          case TIMES -> a * b;
          case OVER -> a / b;
          case MAX -> Math.max(a, b);
          case MIN -> Math.min(a, b);
          case FMA -> {
            double c = value(v.c(), i);
            yield v.float64() ? Math.fma(a, b, c) : Math.fma((float) a, (float) b, (float) c);
          }
          case POWER -> power(v.float64(), a);
          case ABOVE -> value(of.get(a > b ? 2 : 3), i);
          case AT_LEAST -> value(of.get(a >= b ? 2 : 3), i);
        };
    return v.float64() ? value : (float) value;
  }

  /** At one below the exponents of normal numbers it is 0. */
  private static double power(boolean float64, double shifted) {
    double power = shifted - (float64 ? 0x1.8p52 : 0x1.8p23);
    boolean zero = power < (float64 ? Double.MIN_EXPONENT : Float.MIN_EXPONENT);
    return zero ? 0 : Math.scalb(1.0, (int) power);
  }
}
