package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** Rows of a type, as the library takes them. */
final class TypedRows {
  private TypedRows() {}

  static Rows of(double[][] values, ElementType type) {
    int width = values[0].length;
    byte[] bytes = new byte[values.length * width * type.bytes()];
    MemorySegment memory = MemorySegment.ofArray(bytes);
    for (int i = 0; i < values.length * width; i++) {
      type.set(memory, i, values[i / width][i % width]);
    }
    return Rows.of(memory, type, values.length, width);
  }

  static double[][] values(Rows rows) {
    double[][] values = new double[(int) rows.rows()][rows.width()];
    MemorySegment memory = rows.segment();
    for (int i = 0; i < values.length * rows.width(); i++) {
      values[i / rows.width()][i % rows.width()] = rows.type().get(memory, i);
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
