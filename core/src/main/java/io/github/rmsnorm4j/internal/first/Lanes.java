package io.github.rmsnorm4j.internal.first;

import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.Arrays;

/**
 * Memory of a thread: the 32 lanes of a row sum, in float64, and three rows. It is kept from call
 * to call: in an engine, with cold caches, a new array of 32 numbers takes half a microsecond.
 */
final class Lanes {
  /** Rooms: for a row, for the sum of a row and the residual, and for a gain of a call. */
  static final int ROW = 0;

  static final int SUM = 1;
  static final int GAIN = 2;

  /** How many places a thread may have. */
  private static final int WAYS = 4;

  /**
   * By thread id, which is never used again. So a thread finds nobody else's memory, and needs
   * neither a lock nor a thread-local, which would keep the class loader alive. More threads than
   * places make their memory anew.
   */
  private static final Lanes[] OF_THREADS = new Lanes[64 + WAYS];

  private final long thread;
  final double[] block = new double[SumOrder.LANES];
  final double[] total = new double[SumOrder.LANES];
  private final float[][] rooms = {{}, {}, {}};
  private byte[] bytes = {};

  private Lanes(long thread) {
    this.thread = thread;
  }

  static Lanes ofThread() {
    long thread = Thread.currentThread().threadId();
    int place = (int) thread & 63;
    Lanes lanes = OF_THREADS[place];
    return lanes != null && lanes.thread == thread ? lanes : ofThread(thread, place);
  }

  private static Lanes ofThread(long thread, int place) {
    int free = place;
    for (int i = place; i < place + WAYS; i++) {
      Lanes lanes = OF_THREADS[i];
      if (lanes == null) {
        free = i;
      } else if (lanes.thread == thread) {
        return lanes;
      }
    }
    Lanes lanes = new Lanes(thread);
    OF_THREADS[free] = lanes;
    return lanes;
  }

  /** A room of at least a width. */
  float[] room(int room, int width) {
    if (rooms[room].length < width) {
      rooms[room] = new float[width];
    }
    return rooms[room];
  }

  /** Room for the codes of a row. */
  byte[] bytes(int n) {
    if (bytes.length < n) {
      bytes = new byte[n];
    }
    return bytes;
  }

  /** Row sum of {@code x - shift}, or of its squares, in clear lanes. */
  double sum(float[] x, double shift, boolean squared, int width, int piece) {
    for (int i = 0; i < width; ) {
      int end = Math.min(width, i + piece);
      if (squared) {
        PlainLoops.addSquares(block, x, shift, i, end);
      } else {
        PlainLoops.add(block, x, shift, i, end);
      }
      i = end(end, width);
    }
    return tree(width);
  }

  /** Before a sum. */
  void clear() {
    Arrays.fill(block, 0);
    Arrays.fill(total, 0);
  }

  /** Adds the lanes of a block to those of the row where the block or the row ends. */
  private int end(int end, int width) {
    if (width > SumOrder.BLOCK && (end == width || end % SumOrder.BLOCK == 0)) {
      for (int j = 0; j < SumOrder.LANES; j++) {
        total[j] += block[j];
        block[j] = 0;
      }
    }
    return end;
  }

  private double tree(int width) {
    double[] lanes = width > SumOrder.BLOCK ? total : block;
    return ((four(lanes, 0) + four(lanes, 4)) + (four(lanes, 2) + four(lanes, 6)))
        + ((four(lanes, 1) + four(lanes, 5)) + (four(lanes, 3) + four(lanes, 7)));
  }

  /** The levels 16 and 8 of the tree. */
  private static double four(double[] lanes, int j) {
    return (lanes[j] + lanes[j + 16]) + (lanes[j + 8] + lanes[j + 24]);
  }

  /** Row sum of the squares of a narrow row of whole 32s: eight lanes at a time, without memory. */
  static double narrowSquares(float[] x, int from, int width) {
    int end = from + width;
    return (eight(x, from, end) + eight(x, from + 2, end))
        + (eight(x, from + 1, end) + eight(x, from + 3, end));
  }

  /** The tree of the lanes 0, 4, 8, ... 28 from an index on. */
  private static double eight(float[] x, int from, int end) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    double e = 0;
    double f = 0;
    double g = 0;
    double h = 0;
    for (int i = from; i < end; i += SumOrder.LANES) {
      a += (double) x[i] * x[i];
      b += (double) x[i + 4] * x[i + 4];
      c += (double) x[i + 8] * x[i + 8];
      d += (double) x[i + 12] * x[i + 12];
      e += (double) x[i + 16] * x[i + 16];
      f += (double) x[i + 20] * x[i + 20];
      g += (double) x[i + 24] * x[i + 24];
      h += (double) x[i + 28] * x[i + 28];
    }
    return ((a + e) + (c + g)) + ((b + f) + (d + h));
  }
}
