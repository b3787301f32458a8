package io.github.rmsnorm4j.internal.norm;

import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;

/**
 * Arrays for sums over rows. They are kept from call to call, so that a training step allocates
 * nothing that grows with rows or width. Their length is the width rounded up to a power of two, so
 * that norms of several widths share them.
 */
final class SumArrays {
  /** The most bytes that are kept. */
  static final long MAX_BYTES = 1 << 26;

  /** The arrays of all calls. */
  static final SumArrays SHARED = new SumArrays(MAX_BYTES);

  /** The logarithm of the shortest length, 64 elements. */
  private static final int MIN_LOG = 6;

  /** The most elements of an array that is kept; longer ones belong to one call. */
  private static final int MAX_KEPT = 1 << 18;

  /** By the logarithm of the length, float32 and float64 one after the other. */
  private final List<ArrayDeque<Object>> kept =
      Stream.generate(ArrayDeque<Object>::new).limit(2 * Integer.SIZE).toList();

  private final long limit;
  private long bytes;

  /** Keeps at most so many bytes. */
  SumArrays(long limit) {
    this.limit = limit;
  }

  /** Bytes of an array for rows of a width. */
  static long bytes(int width, boolean float64) {
    return width > MAX_KEPT ? (float64 ? 8L : 4L) * width : bytes(index(log(width), float64));
  }

  /** Takes an array of at least the width, float[] or double[], with undefined content. */
  Object take(int width, boolean float64) {
    int length = width > MAX_KEPT ? width : 1 << log(width);
    Object array = width > MAX_KEPT ? null : poll(index(log(width), float64));
    if (array != null) {
      return array;
    }
    return float64 ? new double[length] : new float[length];
  }

  /** Takes an array back. The caller must not use it any more. */
  void giveBack(Object array) {
    int length = array instanceof float[] floats ? floats.length : ((double[]) array).length;
    if (length <= MAX_KEPT) {
      add(array, index(Integer.numberOfTrailingZeros(length), array instanceof double[]));
    }
  }

  /** Bytes kept at the moment. */
  synchronized long bytesKept() {
    return bytes;
  }

  private synchronized Object poll(int index) {
    Object array = kept.get(index).pollLast();
    bytes -= array == null ? 0 : bytes(index);
    return array;
  }

  /**
   * If the limit is reached, arrays of other lengths are dropped, because their norms may not be in
   * use any more. If that is not enough, the array itself is dropped.
   */
  private synchronized void add(Object array, int index) {
    for (int other = 0; other < kept.size(); other++) {
      while (other != index && bytes + bytes(index) > limit && !kept.get(other).isEmpty()) {
        poll(other);
      }
    }
    if (bytes + bytes(index) <= limit) {
      kept.get(index).addLast(array);
      bytes += bytes(index);
    }
  }

  private static int log(int width) {
    return Math.max(MIN_LOG, Integer.SIZE - Integer.numberOfLeadingZeros(width - 1));
  }

  private static int index(int log, boolean float64) {
    return 2 * log + (float64 ? 1 : 0);
  }

  private static long bytes(int index) {
    return (index % 2 == 0 ? 4L : 8L) << index / 2;
  }
}
