package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Rows in an array of bytes, with bytes around and between them that nobody may change.
 *
 * @param offset bytes before the first row
 * @param stride elements from a row to the next one
 */
record TestRows(ElementType type, byte[] bytes, int offset, int rows, int width, int stride) {
  private static final byte GUARD = 0x5a;

  /** Rows with guards only. */
  static TestRows of(ElementType type, int rows, int width, int before, int gap) {
    int stride = width + gap;
    byte[] bytes = new byte[(before + rows * stride + 1) * type.bytes()];
    Arrays.fill(bytes, GUARD);
    return new TestRows(type, bytes, before * type.bytes(), rows, width, stride);
  }

  TestRows copy() {
    return new TestRows(type, bytes.clone(), offset, rows, width, stride);
  }

  /** Other rows of this memory, for an output in place of the input. */
  TestRows as(ElementType other) {
    return new TestRows(other, bytes, offset, rows, width, stride);
  }

  /** The same rows on a device. */
  DeviceRows at(long memory) {
    return new DeviceRows(memory + offset, type, rows, width, stride);
  }

  private MemorySegment segment() {
    return MemorySegment.ofArray(bytes).asSlice(offset);
  }

  Rows onCpu() {
    return Rows.of(segment(), type, rows, width, stride);
  }

  void set(int row, int column, double value) {
    type.set(segment(), (long) row * stride + column, value);
  }

  double get(int row, int column) {
    return type.get(segment(), (long) row * stride + column);
  }

  /** Draws all numbers of one row: usual ones, or of a kind that leaves the range. */
  void draw(int row, SplittableRandom random, boolean mayLeave) {
    double size = Math.pow(10, random.nextDouble(-2, 2));
    double mean = random.nextBoolean() ? 0 : size * random.nextDouble(-9, 9);
    int kind = mayLeave ? random.nextInt(10) : 12;
    boolean float64 = type == ElementType.FLOAT64;
    switch (kind) {
      case 0, 1 -> size = float64 ? 1e200 : type == ElementType.FLOAT16 ? 6e4 : 3e38;
      case 2, 3 -> size = float64 ? 1e-200 : 1e-40;
      case 4 -> {
        size = float64 ? 1e190 : 1e35;
        mean = float64 ? 1e200 : 3e38;
      }
      case 5 -> size = 0;
      case 6 -> size = float64 ? 1e-310 : 1e-44;
      default -> {}
    }
    mean = kind == 4 ? mean : kind < 12 && kind != 5 ? 0 : mean;
    for (int i = 0; i < width; i++) {
      set(row, i, mean + size * random.nextDouble(-1, 1));
    }
    if (kind == 7) {
      set(row, random.nextInt(width), Double.NaN);
    } else if (kind == 8) {
      set(row, random.nextInt(width), Double.NEGATIVE_INFINITY);
    } else if (width > 4) {
      set(row, random.nextInt(width), -0.0);
    }
  }

  /** The first difference from other rows of this kind, NaN being NaN; null if there is none. */
  String difference(TestRows wanted) {
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < width; i++) {
        double actual = get(row, i);
        double other = wanted.get(row, i);
        if (Double.doubleToLongBits(actual) != Double.doubleToLongBits(other)) {
          return "row %d, element %d is %s, wanted %s".formatted(row, i, actual, other);
        }
      }
    }
    boolean narrow = type.bytes() == Short.BYTES;
    byte[] mine = narrow ? bytes : withoutRows();
    byte[] others = narrow ? wanted.bytes : wanted.withoutRows();
    int at = Arrays.mismatch(mine, others);
    return at < 0 ? null : "byte %d is %d, wanted %d".formatted(at, mine[at], others[at]);
  }

  private byte[] withoutRows() {
    byte[] left = bytes.clone();
    for (int row = 0; row < rows; row++) {
      int from = offset + row * stride * type.bytes();
      Arrays.fill(left, from, from + width * type.bytes(), (byte) 0);
    }
    return left;
  }
}
