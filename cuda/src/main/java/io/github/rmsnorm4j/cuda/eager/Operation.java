package io.github.rmsnorm4j.cuda.eager;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.OperationKernel;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The operations that norms are made of. Each is computed in float32 and rounded to the type of the
 * tensors; so are the numbers of rows. Row sums are those of all kernels here, in float64.
 */
enum Operation {
  /** {@code y = x * x}. */
  SQUARE {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).times(x(type)));
    }
  },
  /** {@code y = x * z}. */
  MULTIPLY {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).times(Value.element(Forward.Z, type)));
    }
  },
  /** {@code y = x + z}. */
  ADD {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).plus(Value.element(Forward.Z, type)));
    }
  },
  /** {@code y = x * number of the row}. */
  SCALE {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).times(Value.row(NUMBER).rounded()));
    }
  },
  /** {@code y = x - number of the row}. */
  SUBTRACT {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).minus(Value.row(NUMBER).rounded()));
    }
  },
  /** {@code y = x * number of the column}. */
  SCALE_COLUMNS {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).times(Value.column(COLUMN, false)));
    }
  },
  /** {@code y = x + number of the column}. */
  SHIFT_COLUMNS {
    @Override
    List<Step> steps(ElementType type) {
      return stored(type, x(type).plus(Value.column(COLUMN, false)));
    }
  },
  /** {@code number of the row = mean(x)}. */
  ROW_MEANS {
    @Override
    List<Step> steps(ElementType type) {
      return kept(type, Value.row(Forward.SUM).over(Value.call(Forward.K)));
    }
  },
  /** {@code number of the row = sum(x)}. */
  ROW_SUMS {
    @Override
    List<Step> steps(ElementType type) {
      return kept(type, Value.row(Forward.SUM));
    }
  };

  /** The number of a row. */
  private static final Tensor NUMBER = Forward.RSTD;

  private static final Tensor COLUMN = Forward.GAIN;

  /** What is done to a row of a type. */
  abstract List<Step> steps(ElementType type);

  private static Value x(ElementType type) {
    return Value.element(Forward.X, type);
  }

  /** A float64 number as the type has it. */
  private static Value as(ElementType type, Value number) {
    return number.rounded().cast(type).widened();
  }

  private static List<Step> stored(ElementType type, Value y) {
    Value one = type == ElementType.FLOAT16 ? y.oneNan() : y;
    Stage stage = new Stage.Builder().store(Forward.Y, type, one).build();
    return List.of(new Step(stage, Extent.ROW));
  }

  private static List<Step> kept(ElementType type, Value number) {
    Stage sum = new Stage.Builder().sum(Forward.SUM, x(type).widened()).build();
    Stage keep = new Stage.Builder().keep(NUMBER, as(type, number)).build();
    return List.of(new Step(sum, Extent.ROW), new Step(keep, Extent.NUMBERS));
  }

  /** The kernel for tensors of a type. */
  PtxKernel kernel(ElementType type, int width) {
    List<Step> steps = steps(type);
    Map<Tensor, ElementType> types = new TreeMap<>();
    steps.forEach(step -> types.putAll(step.stage().tensors()));
    boolean keeps = this == ROW_MEANS || this == ROW_SUMS;
    boolean reads = this == SCALE || this == SUBTRACT;
    return OperationKernel.of(
        name(type), steps, types, reads ? NUMBER : null, keeps ? NUMBER : null, width);
  }

  private String name(ElementType type) {
    return (name() + "_" + type).toLowerCase(Locale.ROOT);
  }

  /** The kernel of {@code y = 1 / sqrt(x + epsilon)} on numbers, which become those of a type. */
  static PtxKernel rstd(ElementType type, int width) {
    Value v = as(type, number(Forward.X).plus(Value.call(Forward.EPSILON)));
    Value y = as(type, Value.literal(1.0).over(v.root()));
    return ofNumbers("rstd", type, Map.of(Forward.X, ElementType.FLOAT64), y, width);
  }

  /**
   * The kernel of {@code y = -x * z * z * z / n} on numbers, which become those of a type: what a
   * centred element is multiplied by, from the gradient x of rstd, and from rstd.
   *
   * @param n the width of the tensors
   */
  static PtxKernel throughRoot(ElementType type, int n, int width) {
    Value rstd = number(Forward.Z).rounded();
    Value cube = rstd.times(rstd).times(rstd);
    Value negative = number(Forward.X).rounded().times(Value.floatLiteral(-1));
    Value y = negative.times(cube).over(Value.floatLiteral(n));
    Map<Tensor, ElementType> read =
        Map.of(Forward.X, ElementType.FLOAT64, Forward.Z, ElementType.FLOAT64);
    return ofNumbers("through_root", type, read, y.cast(type).widened(), width);
  }

  private static Value number(Tensor rows) {
    return Value.element(rows, ElementType.FLOAT64);
  }

  private static PtxKernel ofNumbers(
      String name, ElementType type, Map<Tensor, ElementType> read, Value y, int width) {
    Stage stage = new Stage.Builder().store(Forward.Y, ElementType.FLOAT64, y).build();
    Map<Tensor, ElementType> types = new TreeMap<>(read);
    types.put(Forward.Y, ElementType.FLOAT64);
    String full = (name + "_" + type).toLowerCase(Locale.ROOT);
    List<Step> steps = List.of(new Step(stage, Extent.ROW));
    return OperationKernel.of(full, steps, types, null, null, width);
  }
}
