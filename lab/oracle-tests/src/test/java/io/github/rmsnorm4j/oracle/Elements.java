package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.ValueLayout;

/** Numbers of each type as doubles, and back, by means of the JDK and not of this library. */
final class Elements {
  private Elements() {}

  /** A number of the type near the value. */
  static double round(double value, ElementType type) {
    return switch (type) {
      case FLOAT64 -> value;
      case FLOAT32 -> (float) value;
      case FLOAT16 -> Float.float16ToFloat(Float.floatToFloat16((float) value));
      case BFLOAT16 -> Float.intBitsToFloat(Float.floatToRawIntBits((float) value) & 0xFFFF0000);
    };
  }

  /** Significant bits. */
  static int precision(ElementType type) {
    return switch (type) {
      case FLOAT64 -> 53;
      case FLOAT32 -> 24;
      case FLOAT16 -> 11;
      case BFLOAT16 -> 8;
    };
  }

  /** The smallest positive number. */
  static double smallest(ElementType type) {
    return switch (type) {
      case FLOAT64 -> Double.MIN_VALUE;
      case FLOAT32 -> Float.MIN_VALUE;
      case FLOAT16 -> 0x1p-24;
      case BFLOAT16 -> 0x1p-133;
    };
  }

  /** Rows of the type with these values, which the type must have exactly. */
  static Rows rows(double[] values, ElementType type, int width) {
    return switch (type) {
      case FLOAT64 -> Rows.of(values.clone(), width);
      case FLOAT32 -> {
        float[] array = new float[values.length];
        for (int i = 0; i < array.length; i++) {
          array[i] = (float) values[i];
        }
        yield Rows.of(array, width);
      }
      case FLOAT16, BFLOAT16 -> {
        short[] array = new short[values.length];
        for (int i = 0; i < array.length; i++) {
          array[i] = narrow((float) values[i], type);
        }
        yield Rows.of(array, type, width);
      }
    };
  }

  private static short narrow(float value, ElementType type) {
    return type == ElementType.FLOAT16
        ? Float.floatToFloat16(value)
        : (short) (Float.floatToRawIntBits(value) >>> 16);
  }

  /** The values of rows that lie without gaps. */
  static double[] values(Rows rows) {
    double[] values = new double[Math.toIntExact(rows.rows() * rows.width())];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(rows, i);
    }
    return values;
  }

  private static double value(Rows rows, int i) {
    return switch (rows.type()) {
      case FLOAT64 -> rows.segment().getAtIndex(ValueLayout.JAVA_DOUBLE, i);
      case FLOAT32 -> rows.segment().getAtIndex(ValueLayout.JAVA_FLOAT, i);
      case FLOAT16 -> Float.float16ToFloat(rows.segment().getAtIndex(ValueLayout.JAVA_SHORT, i));
      case BFLOAT16 ->
          Float.intBitsToFloat(rows.segment().getAtIndex(ValueLayout.JAVA_SHORT, i) << 16);
    };
  }
}
