package io.github.rmsnorm4j.checkpoint.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.reference.Casts;
import java.util.ArrayList;
import java.util.List;

/** Rounds numbers to types, and measures in their last places. */
final class Rounding {
  /** The highest bit of a float32 that a type of 16 bits cuts off, doubled: its last place. */
  private static final int BFLOAT16_STEP = 1 << 16;

  private static final int FLOAT16_STEP = 1 << 13;

  private Rounding() {}

  /** Rounds once, to nearest, ties to even. */
  static double to(double value, ElementType type) {
    if (type == ElementType.FLOAT64) {
      return value;
    }
    float single = (float) value;
    if (type == ElementType.FLOAT32) {
      return single;
    }
    if (single != value) {
      return Casts.round(value, type);
    }
    if (type == ElementType.FLOAT16) {
      return Float.float16ToFloat(Float.floatToFloat16(single));
    }
    int bits = Float.floatToRawIntBits(single);
    return Float.intBitsToFloat((bits + 0x7fff + (bits >>> 16 & 1)) & 0xffff0000);
  }

  /** Half the distance between neighbours, relative to a number. */
  static double unit(ElementType type) {
    return type.unitRoundoff();
  }

  /** The least number above 0. */
  static double least(ElementType type) {
    return type.minValue();
  }

  /** The distance from a number to the next larger one of a type. */
  static double ulp(double value, ElementType type) {
    double scale = Math.scalb(1.0, Math.max(Math.getExponent(value), -1022));
    return Math.max(least(type), scale * 2 * unit(type));
  }

  /** How many positive float32 numbers there are from one value of the type to the next. */
  static int step(ElementType type) {
    return switch (type) {
      case FLOAT64, FLOAT32 -> 1;
      case FLOAT16 -> FLOAT16_STEP;
      case BFLOAT16 -> BFLOAT16_STEP;
    };
  }

  /** The types of 16 bits that hold every one of the values. */
  static List<ElementType> holding(Iterable<double[]> rows) {
    List<ElementType> holding = new ArrayList<>(List.of(ElementType.BFLOAT16, ElementType.FLOAT16));
    for (double[] row : rows) {
      for (double value : row) {
        holding.removeIf(type -> to(value, type) != value);
      }
    }
    return holding;
  }
}
