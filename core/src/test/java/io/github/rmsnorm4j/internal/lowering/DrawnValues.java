package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Small trees of all that a value can be made of, drawn. */
final class DrawnValues {
  private static final List<Tensor> READ = List.of(Forward.X, Forward.RESIDUAL, Backward.DY);
  private static final List<Tensor> NUMBERS =
      List.of(Forward.MEAN, Forward.ROOT, Forward.RSTD, Backward.M, Backward.C);
  private static final List<ElementType> NARROW =
      List.of(ElementType.FLOAT16, ElementType.BFLOAT16);
  private static final List<Value.Kind> BINARY =
      Arrays.stream(Value.Kind.values()).filter(Value.Kind::isBinary).toList();
  private static final Value ZERO = Value.literal(0.0);

  private final SplittableRandom random;
  private final boolean float64;

  /** Whether float32 is widened among elements; a kernel down columns takes one type alone. */
  private final boolean widens;

  /** Whether many values are rounded to 16 bits: that takes many operations. */
  private final boolean casts;

  private final Map<Tensor, ElementType> types = new TreeMap<>();
  private boolean keepsFirst;

  /** Chooses the types of rows. */
  DrawnValues(
      SplittableRandom random,
      boolean float64,
      Set<ElementType> narrow,
      boolean paired,
      boolean widens) {
    this.random = random;
    this.float64 = float64;
    this.widens = widens;
    casts = random.nextInt(3) == 0;
    List<ElementType> ordered = narrow.stream().sorted().toList();
    for (Tensor rows : NormTensors.ROWS) {
      boolean isNarrow = paired || !narrow.isEmpty() && random.nextBoolean();
      ElementType type = isNarrow ? one(ordered) : ElementType.FLOAT32;
      types.put(rows, float64 ? ElementType.FLOAT64 : type);
    }
  }

  ElementType type(Tensor rows) {
    return types.get(rows);
  }

  /** From now on the row's first element can be read. */
  void keepFirst() {
    keepsFirst = true;
  }

  /** A value of the type that the arithmetic is in. */
  Value ofArithmetic(int depth) {
    return float64 ? wide(depth) : single(depth);
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** An element of rows that are read. */
  Value element() {
    Tensor rows = one(READ);
    return Value.element(rows, types.get(rows));
  }

  /** An element, now and then rounded to 16 bits. */
  Value narrowed() {
    Value element = element();
    return float64 || random.nextInt(3) > 0 ? element : element.cast(one(NARROW));
  }

  /** A number of the row. */
  Value number() {
    return Value.row(one(NUMBERS));
  }

  /** What is made of numbers of the row. */
  Value ofRow(int depth) {
    if (depth == 0) {
      return random.nextInt(4) == 0 ? ofCall() : number();
    }
    return switch (random.nextInt(4)) {
      case 0 -> ofRow(depth - 1).max(ZERO).root();
      case 1 -> ofRow(depth - 1).rounded().widened();
      default -> binary(ofRow(depth - 1), ofRow(depth - 1));
    };
  }

  private Value ofCall() {
    boolean literal = random.nextBoolean();
    return literal ? Value.literal(random.nextDouble()) : Value.call(one(NormTensors.OF_CALL));
  }

  private Value binary(Value a, Value b) {
    return a.binary(one(BINARY), b);
  }

  /** A float64. */
  Value wide(int depth) {
    if (depth == 0) {
      return switch (random.nextInt(5)) {
        case 0 -> ofCall();
        case 1 -> keepsFirst ? Value.row(Forward.SHIFT) : number();
        case 2 -> column().widened();
        default -> element().widened();
      };
    }
    return switch (random.nextInt(8)) {
      case 0 -> wide(depth - 1).max(ZERO).root();
      case 3 -> wide(depth - 1).fma(element().widened(), wide(depth - 1));
      case 2 -> float64 ? power(wide(depth - 1)) : wide(depth - 1);
      case 1 -> float64 ? wide(depth - 1) : single(depth - 1).widened();
      default -> binary(wide(depth - 1), wide(depth - 1));
    };
  }

  /** A number times two to the power of it, rounded; NaN stays NaN. */
  private static Value power(Value v) {
    Value most = v.float64() ? Value.literal(1000.5) : Value.floatLiteral(100.5f);
    Value least = v.float64() ? Value.literal(-1023.0) : Value.floatLiteral(-127f);
    Value shift = v.float64() ? Value.literal(0x1.8p52) : Value.floatLiteral(0x1.8p23f);
    return v.times(v.min(most).max(least).plus(shift).power());
  }

  private Value column() {
    return Value.column(random.nextBoolean() ? Forward.GAIN : Forward.BIAS, float64);
  }

  /** A float32. */
  private Value single(int depth) {
    if (depth == 0) {
      return switch (random.nextInt(5)) {
        case 0 -> number().rounded();
        case 1 -> ofRow(2).rounded();
        case 2 -> column();
        default -> element();
      };
    }
    if (casts && random.nextInt(3) > 0) {
      return single(depth - 1).cast(one(NARROW));
    }
    return switch (random.nextInt(10)) {
      case 3 -> power(single(depth - 1));
      case 4 -> single(depth - 1).fma(element(), single(depth - 1));
      case 0 -> single(depth - 1).oneNan();
      case 1 -> single(depth - 1).cast(one(NARROW));
      case 2 -> widens ? wide(depth - 1).rounded() : single(depth - 1);
      default -> binary(single(depth - 1), single(depth - 1));
    };
  }
}
