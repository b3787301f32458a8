package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A stage as docs/numerics.md defines it, element by element. A float32 is held as the float64 that
 * is equal to it. A float64 result of two float32 that is rounded to float32 is the float32 result.
 *
 * @param columns by number, in natural order
 * @param ofRow by number and row
 */
record ByDefinition(
    Map<Tensor, Rectangle> rows,
    Map<Tensor, double[]> columns,
    double[][] ofRow,
    Map<Tensor, Double> ofCall) {

  /** Runs a stage; whether every range holds. */
  boolean run(Stage stage, int count, int from, int to) {
    boolean holds = true;
    for (int r = 0; r < count; r++) {
      for (Stage.Statement statement : stage.statements()) {
        if (statement instanceof Stage.Keep keep) {
          ofRow[keep.number().place()][r] = value(keep.value(), r, 0);
        } else if (statement instanceof Stage.Range range) {
          double number = value(range.value(), r, 0);
          holds &= range.least() <= number && number <= range.greatest();
        }
      }
      List<Double> sums = new ArrayList<>();
      for (Stage.Sum sum : stage.sums()) {
        sums.add(rowSum(sum.value(), r, to));
      }
      for (int i = from; i < to; i++) {
        elements(stage, r, i);
      }
      for (int s = 0; s < sums.size(); s++) {
        ofRow[stage.sums().get(s).number().place()][r] = sums.get(s);
      }
    }
    return holds;
  }

  /** What is stored of an element, and added to its column. */
  private void elements(Stage stage, int row, int i) {
    double[] values = new double[stage.statements().size()];
    for (int s = 0; s < values.length; s++) {
      Stage.Statement statement = stage.statements().get(s);
      values[s] = statement instanceof Stage.Sum ? 0 : value(statement.value(), row, i);
    }
    for (int s = 0; s < values.length; s++) {
      Stage.Statement statement = stage.statements().get(s);
      if (statement instanceof Stage.Store store) {
        rows.get(store.rows()).set(row, i, values[s]);
      } else if (statement instanceof Stage.ColumnSum sum) {
        double[] numbers = columns.get(sum.column());
        double added = numbers[i] + values[s];
        numbers[i] = sum.value().float64() ? added : (float) added;
      }
    }
  }

  private double rowSum(Value term, int row, int n) {
    double[] ofRow = new double[32];
    for (int s = 0; s < n; s += 65_536) {
      double[] ofSuperBlock = new double[32];
      for (int b = s; b < Math.min(n, s + 65_536); b += 1_024) {
        double[] ofBlock = new double[32];
        for (int i = b; i < Math.min(n, b + 1_024); i++) {
          ofBlock[i % 32] += value(term, row, i);
        }
        add(ofSuperBlock, ofBlock);
      }
      add(ofRow, ofSuperBlock);
    }
    for (int w = 16; w >= 1; w /= 2) {
      for (int j = 0; j < w; j++) {
        ofRow[j] += ofRow[j + w];
      }
    }
    return ofRow[0];
  }

  private static void add(double[] to, double[] lanes) {
    for (int l = 0; l < 32; l++) {
      to[l] += lanes[l];
    }
  }

  private double value(Value value, int row, int i) {
    return switch (value.kind()) {
      case ELEMENT -> rows.get(value.tensor()).get(row, i);
      case COLUMN -> columns.get(value.tensor())[i];
      case ROW -> ofRow[value.tensor().place()][row];
      case CALL -> ofCall.get(value.tensor());
      case LITERAL -> value.number();
      case FIRST -> value(value.a(), row, 0);
      case WIDENED -> value(value.a(), row, i);
      case ROUNDED -> (float) value(value.a(), row, i);
      case CAST -> cast((float) value(value.a(), row, i), value.type());
      case ONE_NAN -> oneNan(value(value.a(), row, i));
      case ROOT -> Math.sqrt(value(value.a(), row, i));
      case POWER -> power(value.float64(), value(value.a(), row, i));
      case ABOVE, AT_LEAST -> {
        double a = value(value.a(), row, i);
        double b = value(value.b(), row, i);
        boolean first = a > b || value.kind() == Value.Kind.AT_LEAST && a == b;
        yield value(value.operands().get(first ? 2 : 3), row, i);
      }
      case FMA -> {
        double a = value(value.a(), row, i);
        double b = value(value.b(), row, i);
        double c = value(value.c(), row, i);
        yield value.float64() ? Math.fma(a, b, c) : Math.fma((float) a, (float) b, (float) c);
      }
      case PLUS, MINUS, TIMES, OVER, MAX, MIN -> {
        double result = binary(value.kind(), value(value.a(), row, i), value(value.b(), row, i));
        yield value.float64() ? result : (float) result;
      }
    };
  }

  /** At one below the exponents of normal numbers it is 0. */
  private static double power(boolean float64, double shifted) {
    double power = shifted - (float64 ? 0x1.8p52 : 0x1.8p23);
    boolean zero = power < (float64 ? Double.MIN_EXPONENT : Float.MIN_EXPONENT);
    return zero ? 0 : Math.scalb(1.0, (int) power);
  }

  private static double oneNan(double number) {
    return Double.isNaN(number) ? Double.NaN : number;
  }

  private static double binary(Value.Kind operation, double a, double b) {
    return switch (operation) {
      case PLUS -> a + b;
      case MINUS -> a - b;
      case TIMES -> a * b;
      case OVER -> a / b;
      case MAX -> Math.max(a, b);
      case MIN -> Math.min(a, b);
      default -> throw new IllegalArgumentException(operation.toString());
    };
  }

  private static float cast(float number, ElementType to) {
    boolean half = to == ElementType.FLOAT16;
    return half ? Float.float16ToFloat(Float.floatToFloat16(number)) : bfloat16(number);
  }

  /** The nearest bfloat16: of the two around a number, and of two as near the even one. */
  static float bfloat16(float number) {
    if (Float.isNaN(number) || Float.isInfinite(number)) {
      return number;
    }
    int towardsZero = Float.floatToIntBits(number) >>> 16;
    double near = Float.intBitsToFloat(towardsZero << 16);
    float next = Float.intBitsToFloat(towardsZero + 1 << 16);
    double far = Float.isInfinite(next) ? Math.copySign(0x1p128, number) : next;
    double toNear = Math.abs(number - near);
    double toFar = Math.abs(far - number);
    boolean up = toFar < toNear || toFar == toNear && (towardsZero & 1) == 1;
    return up ? next : (float) near;
  }
}
