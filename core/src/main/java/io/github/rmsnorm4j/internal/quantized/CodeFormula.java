package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;

/**
 * Scales and codes as descriptions, for back ends that make code from these: what {@link
 * BlockScales} and {@link Encoder} compute, in the same operations. docs/numerics.md has the
 * formulas.
 *
 * <p>A block has codes if its scale and its factor are above 0 and finite. Otherwise its codes are
 * 0, and its scale is {@link #emptyScale}. A scale that is given has codes always.
 *
 * @param format of codes whose scales are in memory of their own, or given
 * @param rule what it does not change for the format is the same for all rules
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

  /** A finite magnitude whose block has no codes becomes 0 by it. */
  private static final float TINY = 0x1p-100f;

  private static final float TO_EVEN = 0x1.8p23f;
  private static final float MOST = 127;
  private static final Value ZERO = Value.literal(0);
  private static final Value WHOLE = Value.literal(0x1p52);

  /** Refuses the blocks of ggml. */
  public CodeFormula {
    if (format.layout() != CodeLayout.APART) {
      throw new IllegalArgumentException(format + " has its scales among the codes");
    }
    boolean float8 = format.float8() != null;
    boolean floor = !format.given();
    rule =
        new CodeRule(
            float8 ? CodeFactor.DIVISION : rule.factor(),
            float8 ? CodeRounding.EVEN : rule.rounding(),
            floor ? rule.floor() : ScaleFloor.NONE);
  }

  private static Value float32(String name, int place) {
    return Value.element(new Tensor(name, Tensor.Access.ELEMENT, place), ElementType.FLOAT32);
  }

  private static Value literal(float number) {
    return Value.floatLiteral(number);
  }

  private BlockScales scales() {
    return new BlockScales(format, rule);
  }

  /** The scale of a block that has codes. */
  public Value scale() {
    BlockScales of = scales();
    Value scale = LARGEST.over(literal(of.codes));
    return of.floor > 0 ? scale.max(literal(of.floor)) : scale;
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
    BlockScales of = scales();
    return switch (of.factorOf) {
      case DIVISION -> scale();
      case INVERSE -> literal(1).over(scale());
      case RATIO -> {
        Value ratio = literal(of.codes).over(LARGEST);
        // The inverse of the floor is exact, and the lesser one where the floor counts.
        yield of.floor > 0 ? ratio.min(literal(1 / of.floor)) : ratio;
      }
    };
  }

  /** The number that is rounded to a code. */
  public Value scaled() {
    return divides() ? ELEMENT.over(FACTOR) : ELEMENT.times(FACTOR);
  }

  private boolean divides() {
    return !format.given() && scales().divides();
  }

  /** An integer code, as a float32 or float64 number. */
  public Value integer() {
    boolean even = rule.rounding() == CodeRounding.EVEN;
    if (even && !divides()) {
      // Products are below 127.5.
      return toEven(scaled());
    }
    Value most = scaled().max(literal(-MOST - 1)).min(literal(MOST + 1));
    return switch (rule.rounding()) {
      case EVEN -> toEven(most).max(literal(-MOST)).min(literal(MOST));
      case AWAY -> {
        Value number = most.widened();
        yield withSign(number, cutOff(magnitude(number).plus(Value.literal(0.5))));
      }
      case HALF_ADDED -> {
        Value sum = most.plus(literal(0.5f)).widened();
        yield withSign(sum, cutOff(magnitude(sum)));
      }
    };
  }

  private static Value toEven(Value number) {
    return number.plus(literal(TO_EVEN)).minus(literal(TO_EVEN));
  }

  private static Value magnitude(Value number) {
    return number.max(ZERO.minus(number));
  }

  /** The integer part of a magnitude, of which the digits after the point are dropped. */
  private static Value cutOff(Value magnitude) {
    Value nearest = magnitude.plus(WHOLE).minus(WHOLE);
    return nearest.above(magnitude, nearest.minus(Value.literal(1)), nearest);
  }

  private static Value withSign(Value of, Value magnitude) {
    Value most = magnitude.min(Value.literal(MOST));
    return of.atLeast(ZERO, most, ZERO.minus(most));
  }
}
