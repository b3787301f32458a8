package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import java.lang.foreign.MemorySegment;

/** Float64 numbers as stored elements, with one rounding. */
final class Elements {
  private Elements() {}

  /** Stores numbers that {@link #round} made, so that no store rounds. */
  static void encode(double[] rounded, int count, Dtype dtype, MemorySegment into) {
    ElementType type = type(dtype);
    for (int i = 0; i < count; i++) {
      type.set(into, i, rounded[i]);
    }
  }

  /** The nearest number of a type, ties to even, from float64 directly. */
  static double round(double value, Dtype dtype) {
    return type(dtype).round(value);
  }

  static double unitRoundoff(Dtype dtype) {
    return type(dtype).unitRoundoff();
  }

  /** The largest error of one rounding of a number that is too small to be normal. */
  static double tiniest(Dtype dtype) {
    return Math.max(type(dtype).minValue() / 2, Double.MIN_VALUE);
  }

  static double leastNormal(Dtype dtype) {
    return type(dtype).minNormal();
  }

  private static ElementType type(Dtype dtype) {
    return dtype.elementType().orElseThrow();
  }
}
