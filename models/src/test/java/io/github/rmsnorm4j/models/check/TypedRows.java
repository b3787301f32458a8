package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.LongStream;

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

  /** Rows side by side; null for what there is not. */
  static Sample sample(Rows x, double[][] y, ElementType yType, double[] gain, double[] bias) {
    Rows gains = gain == null ? null : of(new double[][] {gain}, x.type());
    Rows biases = bias == null ? null : of(new double[][] {bias}, x.type());
    return Sample.of(x, null, of(y, yType), gains, biases, numbers(y.length));
  }

  static long[] numbers(int rows) {
    return LongStream.range(0, rows).toArray();
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
