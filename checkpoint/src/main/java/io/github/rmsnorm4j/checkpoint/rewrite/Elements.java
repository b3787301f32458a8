package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.reference.Casts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Float64 numbers as stored elements, with one rounding. */
final class Elements {
  private Elements() {}

  /** Stores numbers that {@link #round} made, so that no store rounds. */
  static void encode(double[] rounded, int count, Dtype dtype, MemorySegment into) {
    switch (type(dtype)) {
      case FLOAT64 -> MemorySegment.copy(rounded, 0, into, ValueLayout.JAVA_DOUBLE, 0, count);
      case FLOAT32 -> {
        for (int i = 0; i < count; i++) {
          into.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) rounded[i]);
        }
      }
      case FLOAT16 -> {
        for (int i = 0; i < count; i++) {
          into.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16((float) rounded[i]));
        }
      }
      case BFLOAT16 -> {
        for (int i = 0; i < count; i++) {
          int bits = Float.floatToRawIntBits((float) rounded[i]);
          into.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (bits >>> Short.SIZE));
        }
      }
    }
  }

  /** The nearest number of a type, ties to even, from float64 directly. */
  static double round(double value, Dtype dtype) {
    float near = (float) value;
    if (dtype == Dtype.F32) {
      return near;
    }
    // The product of two bfloat16 is a float32, and most of the time goes into these.
    if (near == value && dtype == Dtype.BF16) {
      int bits = Float.floatToRawIntBits(near);
      return Float.intBitsToFloat(bits + 0x7fff + (bits >>> Short.SIZE & 1) & 0xffff0000);
    }
    return Casts.round(value, type(dtype));
  }

  /** The largest error of one rounding of a normal number, as a share of it: half a unit. */
  static double unitRoundoff(Dtype dtype) {
    return switch (type(dtype)) {
      case FLOAT64 -> 0x1p-53;
      case FLOAT32 -> 0x1p-24;
      case FLOAT16 -> 0x1p-11;
      case BFLOAT16 -> 0x1p-8;
    };
  }

  /** The largest error of one rounding of a number that is too small to be normal. */
  static double tiniest(Dtype dtype) {
    return switch (type(dtype)) {
      case FLOAT64 -> Double.MIN_VALUE;
      case FLOAT32 -> 0x1p-150;
      case FLOAT16 -> 0x1p-25;
      case BFLOAT16 -> 0x1p-134;
    };
  }

  /** The least normal number: smaller ones have fewer digits. */
  static double leastNormal(Dtype dtype) {
    return switch (type(dtype)) {
      case FLOAT64 -> Double.MIN_NORMAL;
      case FLOAT32, BFLOAT16 -> Float.MIN_NORMAL;
      case FLOAT16 -> 0x1p-14;
    };
  }

  private static ElementType type(Dtype dtype) {
    return dtype.elementType().orElseThrow();
  }
}
