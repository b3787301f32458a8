package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Row sums with the Vector API, bit for bit those of {@link RowSum}.
 *
 * <p>Four accumulators at every width: at 512 bits they are all 32 lanes; narrower vectors, and
 * centred sums with their two accumulators a vector, sweep the row once per strip of lanes. With
 * more state in a loop the JIT's node budget is passed and vectors are boxed: 8 to 190 times
 * slower.
 */
final class VectorStatistic {
  private static final StatisticKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), StatisticKernel.Spec.class);
  private static final boolean FLOAT64 = SPEC.float64();
  private static final boolean CENTRED = SPEC.centred();
  private static final Memory MEMORY = SPEC.memory();
  private static final boolean HEAP = MEMORY == Memory.HEAP;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      FLOAT64 ? null : VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  private static final int LANES = RowSum.LANES;
  private static final int VECTOR = D.length();
  private static final int STRIP = (CENTRED ? 2 : 4) * VECTOR;
  private static final int BYTES = FLOAT64 ? Double.BYTES : Float.BYTES;
  private static final int SHIFT = FLOAT64 ? 3 : 2;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** Up to this width several rows are kept in flight; wider rows fill the pipeline alone. */
  private static final int NARROW = 256;

  private VectorStatistic() {}

  static void rows(Object base, long offset, long stride, int rows, int width, Workspace work) {
    if (CENTRED) {
      first(base, offset, stride, rows, work.shift);
    }
    if (width <= NARROW) {
      narrow(base, offset, stride, rows, width, work);
    } else {
      for (int r = 0; r < rows; r++) {
        lanes(base, offset + r * stride, width, work.shift[r], r * LANES, work);
      }
    }
    tree(work.laneSquares, rows, work.squares);
    if (CENTRED) {
      tree(work.laneSums, rows, work.sums);
    }
  }

  static void superBlock(Object base, long offset, int length, double shift, Workspace work) {
    lanes(base, offset, length, shift, 0, work);
    addLanes(work.rowSquares, 0, work.laneSquares);
    if (CENTRED) {
      addLanes(work.rowSums, 0, work.laneSums);
    }
  }

  private static double element(Object base, long offset, int i) {
    return FLOAT64
        ? Memory.getDouble(MEMORY, base, offset, i)
        : Memory.getFloat(MEMORY, base, offset, i);
  }

  /*
   * Loops call these two and no other method that has to do with vectors. Whatever is called from
   * there must be inlined, and from a method without a loop the JIT does not do it when it happens
   * to have counted few calls ("low call site frequency"). At most 35 bytes of code, see
   * docs/kernels.md. The element is array[index], or at an address.
   */

  private static DoubleVector doubles(Object array, int index, long address) {
    if (HEAP) {
      return DoubleVector.fromArray(D, (double[]) array, index);
    }
    return DoubleVector.fromMemorySegment(D, Memory.Native.EVERYTHING, address, ORDER);
  }

  private static FloatVector floats(Object array, int index, long address) {
    if (HEAP) {
      return FloatVector.fromArray(F, (float[]) array, index);
    }
    return FloatVector.fromMemorySegment(F, Memory.Native.EVERYTHING, address, ORDER);
  }

  /** The first element of each row. */
  private static void first(Object base, long offset, long stride, int rows, double[] shift) {
    for (int r = 0; r < rows; r++) {
      shift[r] = element(base, offset + r * stride, 0);
    }
  }

  /** Lanes of a wide row, or of one super-block of a longer one, into the lane arrays at l. */
  private static void lanes(Object base, long offset, int n, double shift, int l, Workspace work) {
    int whole = n - n % LANES;
    for (int s = 0; s < LANES; s += STRIP) {
      if (CENTRED) {
        centredStrip(base, offset, s, whole, shift, l + s, work);
      } else {
        strip(base, offset, s, whole, work.laneSquares, l + s, work.totalSquares);
      }
    }
    if (whole < n) {
      tail(base, offset + (long) whole * BYTES, n - whole, shift, l, work);
    }
    addLanes(work.laneSquares, l, work.totalSquares);
    if (CENTRED) {
      addLanes(work.laneSums, l, work.totalSums);
    }
  }

  private static void addLanes(double[] into, int at, double[] lanes) {
    for (int j = 0; j < LANES; j++) {
      into[at + j] += lanes[j];
    }
  }

  /** One flat loop over the row; leaves the open block's lanes in lanes, the folded in totals. */
  private static void strip(
      Object base, long offset, int t, int n, double[] lanes, int l, double[] totals) {
    int start = (int) (offset >> SHIFT) + t;
    long from = offset + (long) BYTES * t;
    DoubleVector a0 = DoubleVector.zero(D);
    DoubleVector a1 = a0;
    DoubleVector a2 = a0;
    DoubleVector a3 = a0;
    DoubleVector t0 = a0;
    DoubleVector t1 = a0;
    DoubleVector t2 = a0;
    DoubleVector t3 = a0;
    for (int i = 0; i < n; i += LANES) {
      int at = start + i;
      long p = from + (long) BYTES * i;
      DoubleVector v0 =
          FLOAT64 ? doubles(base, at, p) : (DoubleVector) floats(base, at, p).castShape(D, 0);
      DoubleVector v1 =
          FLOAT64
              ? doubles(base, at + VECTOR, p + BYTES * VECTOR)
              : (DoubleVector) floats(base, at + VECTOR, p + BYTES * VECTOR).castShape(D, 0);
      DoubleVector v2 =
          FLOAT64
              ? doubles(base, at + 2 * VECTOR, p + 2 * BYTES * VECTOR)
              : (DoubleVector)
                  floats(base, at + 2 * VECTOR, p + 2 * BYTES * VECTOR).castShape(D, 0);
      DoubleVector v3 =
          FLOAT64
              ? doubles(base, at + 3 * VECTOR, p + 3 * BYTES * VECTOR)
              : (DoubleVector)
                  floats(base, at + 3 * VECTOR, p + 3 * BYTES * VECTOR).castShape(D, 0);
      a0 = a0.add(v0.mul(v0));
      a1 = a1.add(v1.mul(v1));
      a2 = a2.add(v2.mul(v2));
      a3 = a3.add(v3.mul(v3));
      if (i % RowSum.BLOCK == RowSum.BLOCK - LANES) {
        t0 = t0.add(a0);
        t1 = t1.add(a1);
        t2 = t2.add(a2);
        t3 = t3.add(a3);
        a0 = DoubleVector.zero(D);
        a1 = a0;
        a2 = a0;
        a3 = a0;
      }
    }
    a0.intoArray(lanes, l);
    a1.intoArray(lanes, l + VECTOR);
    a2.intoArray(lanes, l + 2 * VECTOR);
    a3.intoArray(lanes, l + 3 * VECTOR);
    t0.intoArray(totals, t);
    t1.intoArray(totals, t + VECTOR);
    t2.intoArray(totals, t + 2 * VECTOR);
    t3.intoArray(totals, t + 3 * VECTOR);
  }

  /** The same for differences from the shift and their squares, two vectors of each. */
  private static void centredStrip(
      Object base, long offset, int t, int n, double shift, int l, Workspace work) {
    int start = (int) (offset >> SHIFT) + t;
    long from = offset + (long) BYTES * t;
    DoubleVector x0 = DoubleVector.broadcast(D, shift);
    DoubleVector s0 = DoubleVector.zero(D);
    DoubleVector s1 = s0;
    DoubleVector q0 = s0;
    DoubleVector q1 = s0;
    DoubleVector ts0 = s0;
    DoubleVector ts1 = s0;
    DoubleVector tq0 = s0;
    DoubleVector tq1 = s0;
    for (int i = 0; i < n; i += LANES) {
      int at = start + i;
      long p = from + (long) BYTES * i;
      DoubleVector v0 =
          FLOAT64 ? doubles(base, at, p) : (DoubleVector) floats(base, at, p).castShape(D, 0);
      DoubleVector v1 =
          FLOAT64
              ? doubles(base, at + VECTOR, p + BYTES * VECTOR)
              : (DoubleVector) floats(base, at + VECTOR, p + BYTES * VECTOR).castShape(D, 0);
      DoubleVector d0 = v0.sub(x0);
      DoubleVector d1 = v1.sub(x0);
      s0 = s0.add(d0);
      s1 = s1.add(d1);
      q0 = q0.add(d0.mul(d0));
      q1 = q1.add(d1.mul(d1));
      if (i % RowSum.BLOCK == RowSum.BLOCK - LANES) {
        ts0 = ts0.add(s0);
        ts1 = ts1.add(s1);
        tq0 = tq0.add(q0);
        tq1 = tq1.add(q1);
        s0 = DoubleVector.zero(D);
        s1 = s0;
        q0 = s0;
        q1 = s0;
      }
    }
    s0.intoArray(work.laneSums, l);
    s1.intoArray(work.laneSums, l + VECTOR);
    q0.intoArray(work.laneSquares, l);
    q1.intoArray(work.laneSquares, l + VECTOR);
    ts0.intoArray(work.totalSums, t);
    ts1.intoArray(work.totalSums, t + VECTOR);
    tq0.intoArray(work.totalSquares, t);
    tq1.intoArray(work.totalSquares, t + VECTOR);
  }

  /** Rows of one block at most: group by group of 32 columns, all rows in each, lanes in memory. */
  private static void narrow(
      Object base, long offset, long stride, int rows, int width, Workspace work) {
    Arrays.fill(work.laneSquares, 0, rows * LANES, 0.0);
    if (CENTRED) {
      Arrays.fill(work.laneSums, 0, rows * LANES, 0.0);
    }
    int whole = width - width % LANES;
    for (int s = 0; s < LANES; s += STRIP) {
      for (int column = s; column < whole; column += LANES) {
        long at = offset + (long) column * BYTES;
        if (CENTRED) {
          centredGroup(base, at, stride, rows, work.shift, work.laneSums, work.laneSquares, s);
        } else {
          group(base, at, stride, rows, work.laneSquares, s);
        }
      }
    }
    for (int r = 0; r < rows && whole < width; r++) {
      long at = offset + r * stride + (long) whole * BYTES;
      tail(base, at, width - whole, work.shift[r], r * LANES, work);
    }
  }

  private static void group(
      Object base, long offset, long stride, int rows, double[] lanes, int lane) {
    for (int r = 0; r < rows; r++) {
      long p = offset + r * stride;
      int l = r * LANES + lane;
      int at = (int) (p >> SHIFT);
      DoubleVector v0 =
          FLOAT64 ? doubles(base, at, p) : (DoubleVector) floats(base, at, p).castShape(D, 0);
      DoubleVector v1 =
          FLOAT64
              ? doubles(base, at + VECTOR, p + BYTES * VECTOR)
              : (DoubleVector) floats(base, at + VECTOR, p + BYTES * VECTOR).castShape(D, 0);
      DoubleVector v2 =
          FLOAT64
              ? doubles(base, at + 2 * VECTOR, p + 2 * BYTES * VECTOR)
              : (DoubleVector)
                  floats(base, at + 2 * VECTOR, p + 2 * BYTES * VECTOR).castShape(D, 0);
      DoubleVector v3 =
          FLOAT64
              ? doubles(base, at + 3 * VECTOR, p + 3 * BYTES * VECTOR)
              : (DoubleVector)
                  floats(base, at + 3 * VECTOR, p + 3 * BYTES * VECTOR).castShape(D, 0);
      accumulate(lanes, l, v0.mul(v0));
      accumulate(lanes, l + VECTOR, v1.mul(v1));
      accumulate(lanes, l + 2 * VECTOR, v2.mul(v2));
      accumulate(lanes, l + 3 * VECTOR, v3.mul(v3));
    }
  }

  private static void centredGroup(
      Object base,
      long offset,
      long stride,
      int rows,
      double[] shift,
      double[] sums,
      double[] squares,
      int lane) {
    for (int r = 0; r < rows; r++) {
      long p = offset + r * stride;
      int l = r * LANES + lane;
      DoubleVector x0 = DoubleVector.broadcast(D, shift[r]);
      int at = (int) (p >> SHIFT);
      DoubleVector v0 =
          FLOAT64 ? doubles(base, at, p) : (DoubleVector) floats(base, at, p).castShape(D, 0);
      DoubleVector v1 =
          FLOAT64
              ? doubles(base, at + VECTOR, p + BYTES * VECTOR)
              : (DoubleVector) floats(base, at + VECTOR, p + BYTES * VECTOR).castShape(D, 0);
      DoubleVector d0 = v0.sub(x0);
      DoubleVector d1 = v1.sub(x0);
      accumulate(sums, l, d0);
      accumulate(sums, l + VECTOR, d1);
      accumulate(squares, l, d0.mul(d0));
      accumulate(squares, l + VECTOR, d1.mul(d1));
    }
  }

  private static void accumulate(double[] lanes, int l, DoubleVector terms) {
    DoubleVector.fromArray(D, lanes, l).add(terms).intoArray(lanes, l);
  }

  /** The last elements, fewer than 32, go to the lanes of the open block one by one. */
  private static void tail(Object base, long offset, int n, double shift, int l, Workspace work) {
    for (int j = 0; j < n; j++) {
      double v = element(base, offset, j);
      if (CENTRED) {
        v -= shift;
        work.laneSums[l + j] += v;
      }
      work.laneSquares[l + j] += v * v;
    }
  }

  /** The tree over 32 lanes of each row: its upper two levels as vectors, the last three not. */
  private static void tree(double[] lanes, int rows, double[] sum) {
    for (int r = 0; r < rows; r++) {
      for (int l = r * LANES; l < r * LANES + 8; l += VECTOR) {
        DoubleVector even =
            DoubleVector.fromArray(D, lanes, l).add(DoubleVector.fromArray(D, lanes, l + 16));
        DoubleVector odd =
            DoubleVector.fromArray(D, lanes, l + 8).add(DoubleVector.fromArray(D, lanes, l + 24));
        even.add(odd).intoArray(lanes, l);
      }
    }
    for (int r = 0; r < rows; r++) {
      int l = r * LANES;
      double even = (lanes[l] + lanes[l + 4]) + (lanes[l + 2] + lanes[l + 6]);
      double odd = (lanes[l + 1] + lanes[l + 5]) + (lanes[l + 3] + lanes[l + 7]);
      sum[r] = even + odd;
    }
  }
}
