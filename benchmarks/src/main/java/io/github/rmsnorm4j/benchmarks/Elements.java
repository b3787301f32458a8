package io.github.rmsnorm4j.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;

/** Elements of any type, one by one: for preparing and checking, never for what is timed. */
public final class Elements {
  private Elements() {}

  /**
   * One element as a double.
   *
   * @param segment holds elements of the type
   * @param type of the elements
   * @param index counts elements
   * @return its exact value
   */
  public static double get(MemorySegment segment, ElementType type, long index) {
    return switch (type) {
      case FLOAT64 -> segment.getAtIndex(JAVA_DOUBLE, index);
      case FLOAT32 -> segment.getAtIndex(JAVA_FLOAT, index);
      case FLOAT16 -> Float.float16ToFloat(segment.getAtIndex(JAVA_SHORT, index));
      case BFLOAT16 -> Float.intBitsToFloat(segment.getAtIndex(JAVA_SHORT, index) << 16);
    };
  }

  /**
   * Sets one element.
   *
   * @param segment holds elements of the type
   * @param type of the elements
   * @param index counts elements
   * @param value one that the type can hold
   */
  public static void set(MemorySegment segment, ElementType type, long index, double value) {
    float narrow = (float) value;
    switch (type) {
      case FLOAT64 -> segment.setAtIndex(JAVA_DOUBLE, index, value);
      case FLOAT32 -> segment.setAtIndex(JAVA_FLOAT, index, narrow);
      case FLOAT16 -> segment.setAtIndex(JAVA_SHORT, index, Float.floatToFloat16(narrow));
      case BFLOAT16 ->
          segment.setAtIndex(JAVA_SHORT, index, (short) (Float.floatToRawIntBits(narrow) >>> 16));
    }
  }

  /**
   * The distance between neighbours of 1, halved: one rounding's largest relative error.
   *
   * @param type of the elements
   * @return a power of two
   */
  public static double unitRoundoff(ElementType type) {
    return switch (type) {
      case FLOAT64 -> 0x1p-53;
      case FLOAT32 -> 0x1p-24;
      case FLOAT16 -> 0x1p-11;
      case BFLOAT16 -> 0x1p-8;
    };
  }
}
