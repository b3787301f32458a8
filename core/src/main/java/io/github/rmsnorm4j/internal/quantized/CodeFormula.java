package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;

/**
 * The description of scales and codes, as docs/numerics.md defines them. Plain Java and the kernels
 * for GPUs are made from it. {@link VectorScales} and {@link VectorCodes} give the same bytes by
 * faster steps.
 *
 * <p>A block has codes if its scale and its factor are above 0 and finite. Otherwise its codes are
 * 0, and its scale is {@link #emptyScale}. A scale that is given has codes always.
 *
 * @param format of any layout except {@link CodeLayout#Q8_K}
 * @param rule without what makes no difference for the format
 */
public record CodeFormula(CodeFormat format, CodeRule rule) {
  /** The largest magnitude of the block, NaN if an element is NaN. */
  public static final Value LARGEST = float32("a", 0);

  /** The element that gets a code. */
  public static final Value ELEMENT = float32("y", 1);

  /** {@link #factor} of the block of the element. */
  public static final Value FACTOR = float32("f", 2);

  /** The scale that is given for all blocks. */
  public static final Value GIVEN = float32("scale", 3);

  /** The largest int8 code. */
  static final float MOST = 127;

  /** A number that is rounded to the largest code, as all larger ones are. */
  private static final float BOUND = 127.25f;

  private static final float VLLM_INT8 = 0x1p-23f;
  private static final float VLLM_FLOAT8 = 512;

  /** A finite magnitude whose block has no codes becomes 0 by it. */
  private static final float TINY = 0x1p-100f;

  /** The last digit is worth 1: a sum with it is rounded to an integer, ties to even. */
  static final float TO_EVEN = 0x1.8p23f;

  private static final Value TO_EVEN_64 = Value.literal(0x1.8p52);

  /** A float32 number times this is behind a tie, but no nearer number gets there. */
  private static final double BEYOND_TIES = 1 + 0x1p-30;

  /** Drops the choices of the rule that make no difference. */
  public CodeFormula {
    if (format.layout() == CodeLayout.Q8_K) {
      throw new IllegalArgumentException(format + " has a formula of its own");
    }
    boolean float8 = format.float8() != null;
    boolean mayHaveFloor = format.layout() == CodeLayout.APART && !format.given();
    rule =
        new CodeRule(
            float8 ? CodeFactor.DIVISION : rule.factor(),
            float8 ? CodeRounding.EVEN : rule.rounding(),
            mayHaveFloor ? rule.floor() : ScaleFloor.NONE);
  }

  private static Value float32(String name, int place) {
    return Value.element(new Tensor(name, Tensor.Access.ELEMENT, place), ElementType.FLOAT32);
  }

  private static Value literal(float number) {
    return Value.floatLiteral(number);
  }

  /** The largest code. */
  float codes() {
    return format.float8() == null ? MOST : format.float8().largest;
  }

  /** The least scale, a power of two for int8 codes; 0 for none. */
  float floor() {
    float least = format.float8() == null ? VLLM_INT8 : 1 / (codes() * VLLM_FLOAT8);
    return rule.floor() == ScaleFloor.VLLM ? least : 0;
  }

  /** Whether elements are divided by the factor, and not multiplied with it. */
  boolean divides() {
    return !format.given() && rule.factor() == CodeFactor.DIVISION;
  }

  /** The scale of a block that has codes. */
  public Value scale() {
    Value scale = LARGEST.over(literal(codes()));
    return floor() > 0 ? scale.max(literal(floor())) : scale;
  }

  /** The scale of a block without codes: 0, or the largest magnitude if that is not finite. */
  public Value emptyScale() {
    return LARGEST.times(literal(TINY)).oneNan();
  }

  /** What the elements of a block that has codes are multiplied with or divided by. */
  public Value factor() {
    if (format.given()) {
      return literal(1).over(GIVEN);
    }
    return switch (rule.factor()) {
      case DIVISION -> scale();
      case INVERSE -> literal(1).over(scale());
      case RATIO -> {
        Value ratio = literal(codes()).over(LARGEST);
        // The inverse of the floor is exact, and the lesser one where the floor counts.
        yield floor() > 0 ? ratio.min(literal(1 / floor())) : ratio;
      }
    };
  }

  /** The number that is rounded to a code. */
  public Value scaled() {
    return divides() ? ELEMENT.over(FACTOR) : ELEMENT.times(FACTOR);
  }

  /** Whether an int8 code is a product, rounded to even: it needs no bound. */
  boolean isRoundedProduct() {
    return format.float8() == null && rule.rounding() == CodeRounding.EVEN && !divides();
  }

  /**
   * A float32 or float64 number that is cut off towards 0 to an int8 code. All but those of {@link
   * CodeRounding#HALF_ADDED} are integers.
   */
  public Value integer() {
    if (isRoundedProduct()) {
      // Products are below 127.5.
      return toEven(scaled());
    }
    boolean halfAdded = rule.rounding() == CodeRounding.HALF_ADDED;
    Value bounded = scaled().max(literal(halfAdded ? -MOST - 1 : -BOUND)).min(literal(BOUND));
    return switch (rule.rounding()) {
      case EVEN -> toEven(bounded);
      case AWAY -> {
        Value beyondTies = bounded.widened().times(Value.literal(BEYOND_TIES));
        yield beyondTies.plus(TO_EVEN_64).minus(TO_EVEN_64);
      }
      case HALF_ADDED -> bounded.plus(literal(0.5f));
    };
  }

  private static Value toEven(Value number) {
    return number.plus(literal(TO_EVEN)).minus(literal(TO_EVEN));
  }
}
