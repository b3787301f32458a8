package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Rows in an array of bytes, with guards: bytes before, between and behind the rows that nobody may
 * change. Elements that nobody has written hold the same bytes, so one that a kernel leaves out
 * shows.
 *
 * @param type of the elements; null for bytes that are no numbers
 * @param offset bytes before the first row
 * @param stride elements from a row to the next one
 */
record GuardedRows(ElementType type, byte[] bytes, int offset, int rows, int width, int stride) {
  private static final byte GUARD = 0x5a;

  /** Bytes before and behind the rows; a multiple of what every access can be aligned to. */
  private static final int GUARDS = 64;

  /** Row 0 to 7 of those that leave the range. */
  private static final double[] SIZES = {1e38, 1e-40, 0, 1e30, 1e-44, 1, 1, 1};

  private static final double[] FLOAT64_SIZES = {1e200, 1e-200, 0, 1e300, 1e-310, 1, 1, 1};

  /**
   * Rows with guards only.
   *
   * @param apart whether rows begin at addresses that are no multiples of 16, and are apart
   */
  static GuardedRows of(ElementType type, int rows, int width, boolean apart) {
    int offset = GUARDS + (apart ? type.bytes() : 0);
    int stride = width + (apart ? 3 : 0);
    byte[] bytes = new byte[offset + rows * stride * type.bytes() + GUARDS];
    Arrays.fill(bytes, GUARD);
    return new GuardedRows(type, bytes, offset, rows, width, stride);
  }

  /** Writes numbers, one row after the other. */
  GuardedRows put(double[] numbers) {
    for (int i = 0; i < numbers.length; i++) {
      set(i / width, i % width, numbers[i]);
    }
    return this;
  }

  /** Rows of bytes that are no numbers, such as codes. */
  static GuardedRows ofBytes(int rows, int width, boolean apart) {
    int offset = GUARDS + (apart ? 1 : 0);
    int stride = width + (apart ? 3 : 0);
    byte[] bytes = new byte[offset + rows * stride + GUARDS];
    Arrays.fill(bytes, GUARD);
    return new GuardedRows(null, bytes, offset, rows, width, stride);
  }

  /** The memory from the first row on. */
  MemorySegment segment() {
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

  /** Draws all elements: of usual rows, or also of rows whose arithmetic leaves its range. */
  GuardedRows draw(SplittableRandom random, boolean leaves) {
    for (int row = 0; row < rows; row++) {
      double size = Math.pow(10, random.nextDouble(-2, 2));
      double mean = random.nextBoolean() ? 0 : size * random.nextDouble(-9, 9);
      if (leaves && row < SIZES.length) {
        size = type == ElementType.FLOAT64 ? FLOAT64_SIZES[row] : SIZES[row];
        size = type == ElementType.FLOAT16 ? Math.min(size, 6e4) : size;
        mean = 0;
      }
      for (int i = 0; i < width; i++) {
        set(row, i, mean + size * random.nextDouble(-1, 1));
      }
      if (leaves && row == 6) {
        set(row, random.nextInt(width), Double.NaN);
      } else if (leaves && row == 7) {
        set(row, random.nextInt(width), Double.NEGATIVE_INFINITY);
      }
    }
    return this;
  }

  /** The first difference from other rows of this kind, a NaN being any NaN; null if none. */
  String difference(GuardedRows wanted) {
    for (int row = 0; type != null && row < rows; row++) {
      for (int i = 0; i < width; i++) {
        double actual = get(row, i);
        double other = wanted.get(row, i);
        if (Double.doubleToLongBits(actual) != Double.doubleToLongBits(other)) {
          return "row %s, element %s is %s, on the CPU it is %s".formatted(row, i, actual, other);
        }
      }
    }
    int at = Arrays.mismatch(canonical(), wanted.canonical());
    return at < 0 ? null : "byte " + (at - offset) + " from the first row on has changed";
  }

  void digest(MessageDigest digest) {
    digest.update(canonical());
  }

  /**
   * All bytes. The contract leaves the bits of a float32 or a float64 NaN open; here they are
   * Java's.
   */
  private byte[] canonical() {
    if (type == null || type.bytes() == Short.BYTES) {
      return bytes;
    }
    GuardedRows copy = new GuardedRows(type, bytes.clone(), offset, rows, width, stride);
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < width; i++) {
        if (Double.isNaN(get(row, i))) {
          copy.set(row, i, Double.NaN);
        }
      }
    }
    return copy.bytes;
  }
}
