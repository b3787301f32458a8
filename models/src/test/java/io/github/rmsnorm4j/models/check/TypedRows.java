package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** Rows of a type, as the library takes them. */
final class TypedRows {
  private TypedRows() {}

  static Rows of(double[][] values, ElementType type) {
    int width = values[0].length;
    byte[] bytes = new byte[values.length * width * type.bytes()];
    MemorySegment memory = MemorySegment.ofArray(bytes);
    for (int i = 0; i < values.length * width; i++) {
      double value = values[i / width][i % width];
      switch (type) {
        case FLOAT64 -> memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i, value);
        case FLOAT32 -> memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i, (float) value);
        case FLOAT16 ->
            memory.set(
                ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, Float.floatToFloat16((float) value));
        case BFLOAT16 ->
            memory.set(
                ValueLayout.JAVA_SHORT_UNALIGNED,
                2L * i,
                (short) (Float.floatToIntBits((float) value) >> 16));
      }
    }
    return Rows.of(memory, type, values.length, width);
  }

  static double[][] values(Rows rows) {
    double[][] values = new double[(int) rows.rows()][rows.width()];
    MemorySegment memory = rows.segment();
    for (int i = 0; i < values.length * rows.width(); i++) {
      values[i / rows.width()][i % rows.width()] =
          switch (rows.type()) {
            case FLOAT64 -> memory.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8L * i);
            case FLOAT32 -> memory.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i);
            case FLOAT16 ->
                Float.float16ToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i));
            case BFLOAT16 ->
                Float.intBitsToFloat(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i) << 16);
          };
    }
    return values;
  }

  /** Normal numbers that the type holds. */
  static double[][] random(
      Random random, int rows, int width, double mean, double scale, ElementType type) {
    double[][] values = new double[rows][width];
    for (double[] row : values) {
      double size = scale * Math.pow(2, 2 * random.nextDouble() - 1);
      for (int i = 0; i < width; i++) {
        row[i] = type.round((mean + random.nextGaussian()) * size);
      }
    }
    return values;
  }
}
