package io.github.rmsnorm4j.internal.norm;

import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;

/**
 * Arrays for sums over rows, kept from call to call, so that a training step allocates nothing that
 * grows with rows or width. Their length is the power of two from the width on, so that norms of
 * several widths share them.
 */
final class SumArrays {
  /** Shorter arrays than of 64 elements are not made. */
  private static final int MIN_LOG = 6;

  /** Elements of an array that is kept; longer ones are of their call alone. */
  private static final int MAX_KEPT = 1 << 18;

  /** Bytes kept at most: two parameters of 64 sub-trees of rows of 2^17 float32 elements. */
  static final long MAX_BYTES = 1 << 26;

  private static final SumArrays POOL = new SumArrays();

  /** By the logarithm of the length, float32 and float64 one after the other. */
  private final List<ArrayDeque<Object>> kept =
      Stream.generate(ArrayDeque<Object>::new).limit(2 * Integer.SIZE).toList();

  private long bytes;

  /** An array of at least the width, float[] or double[]; what is in it is undefined. */
  static Object take(int width, boolean float64) {
    if (width > MAX_KEPT) {
      return float64 ? new double[width] : new float[width];
    }
    int log = Math.max(MIN_LOG, Integer.SIZE - Integer.numberOfLeadingZeros(width - 1));
    Object array = POOL.poll(log, float64);
    if (array != null) {
      return array;
    }
    return float64 ? new double[1 << log] : new float[1 << log];
  }

  /** Takes an array back, which is not the giver's any more. */
  static void giveBack(Object array) {
    int length = array instanceof float[] floats ? floats.length : ((double[]) array).length;
    if (length <= MAX_KEPT) {
      POOL.add(array, Integer.numberOfTrailingZeros(length), array instanceof double[]);
    }
  }

  /** Bytes kept at the moment. */
  static long bytesKept() {
    synchronized (POOL) {
      return POOL.bytes;
    }
  }

  private synchronized Object poll(int log, boolean float64) {
    Object array = kept.get(index(log, float64)).pollLast();
    bytes -= array == null ? 0 : bytes(log, float64);
    return array;
  }

  /** Where there is no room all others are let go: they may be of norms that are no more. */
  private synchronized void add(Object array, int log, boolean float64) {
    if (bytes + bytes(log, float64) > MAX_BYTES) {
      kept.forEach(ArrayDeque::clear);
      bytes = 0;
    }
    kept.get(index(log, float64)).addLast(array);
    bytes += bytes(log, float64);
  }

  private static int index(int log, boolean float64) {
    return 2 * log + (float64 ? 1 : 0);
  }

  private static long bytes(int log, boolean float64) {
    return (float64 ? 8L : 4L) << log;
  }
}
