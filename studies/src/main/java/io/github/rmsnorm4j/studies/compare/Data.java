package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The numbers that tensors are filled with: a block of rows over and over, so that sums over all
 * rows can be told from a few. Every type holds them exactly.
 */
final class Data {
  /** Seeds of the tensors and the parameters. */
  static final int X = 1;

  static final int DY = 2;
  static final int GAIN = 3;
  static final int BIAS = 4;

  private static final int LARGEST_BLOCK = 1 << 18;

  private final ElementType type;
  private final Shape shape;

  /** Rows until they repeat. */
  final int period;

  Data(ElementType type, Shape shape) {
    this.type = type;
    this.shape = shape;
    period = Math.clamp(LARGEST_BLOCK / shape.width(), 1, Math.min(61, shape.rows()));
  }

  /** How many rows are the same as one of the first. */
  long copies(int row) {
    return (shape.rows() - row + period - 1L) / period;
  }

  /** Numbers from -2 to 2, the same for the same seed. */
  double[] row(int seed, int row) {
    return new SplittableRandom(seed * 1_000_003L + row % period)
        .ints(shape.width(), -127, 128)
        .mapToDouble(i -> i / 64.0)
        .toArray();
  }

  /** Gains or biases: from 0.5 to 1.5. */
  float[] parameters(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[shape.width()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(32, 97) / 64.0f;
    }
    return values;
  }

  /** Fills a tensor, and returns it. */
  MemorySegment fill(MemorySegment tensor, int seed) {
    for (int row = 0; row < period; row++) {
      write(tensor, row, row(seed, row));
    }
    long bytes = (long) shape.width() * type.bytes();
    long done = period * bytes;
    while (done < tensor.byteSize()) {
      // A multiple of the period, so that the copy goes on where the rows so far end.
      long n = Math.min(done, tensor.byteSize() - done);
      MemorySegment.copy(tensor, 0, tensor, done, n);
      done += n;
    }
    return tensor;
  }

  void write(MemorySegment tensor, long row, double[] values) {
    for (int i = 0; i < values.length; i++) {
      type.set(tensor, row * shape.width() + i, values[i]);
    }
  }

  double[] read(MemorySegment tensor, long row) {
    double[] values = new double[shape.width()];
    Arrays.setAll(values, i -> type.get(tensor, row * shape.width() + i));
    return values;
  }
}
