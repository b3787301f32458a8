package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Row sums with the Vector API, bit for bit those of {@link RowSum}.
 *
 * <p>Four accumulators at every width: at 512 bits they are all 32 lanes; narrower vectors, and
 * centred sums with their two accumulators a vector, sweep the rows once per strip of lanes. With
 * eight the JIT runs out of registers.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorStatistic {
  private static final StatisticKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), StatisticKernel.Spec.class);
  private static final boolean FLOAT64 = SPEC.float64();
  private static final boolean CENTRED = SPEC.centred();
  private static final Memory MEMORY = SPEC.memory();
  private static final boolean HEAP = MEMORY == Memory.HEAP;
  private static final boolean RESIDUAL = SPEC.residual() != null;
  private static final boolean HEAP_RESIDUAL = SPEC.residual() != Memory.NATIVE;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      FLOAT64 ? null : VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  /** Of the rows' elements. */
  private static final VectorSpecies<?> X = FLOAT64 ? D : F;

  private static final int LANES = RowSum.LANES;
  private static final int BLOCK = RowSum.BLOCK;
  private static final int VECTOR = D.length();

  /**
   * Elements from one vector of a strip to the next: as far apart as can be, so that the first
   * strip brings every cache line of the rows, in order, and the others find them there.
   */
  private static final int APART = LANES / (CENTRED ? 2 : 4);

  private static final int BYTES = FLOAT64 ? Double.BYTES : Float.BYTES;
  private static final int SHIFT = FLOAT64 ? 3 : 2;

  private static final int STEP = BYTES * APART;

  private static final MemorySegment NATIVE =
      HEAP && HEAP_RESIDUAL ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** The square of a float is exact in float64, so that a fused sum has the same bits. */
  private static final boolean FUSED = !FLOAT64 && !CENTRED && VectorHardware.FUSED_MULTIPLY_ADD;

  private VectorStatistic() {}

  static void rows(Rectangle x, Rectangle residual, int rows, int width, Workspace work) {
    if (CENTRED) {
      first(x, residual, rows, work.shift);
    }
    lanes(x, residual, rows, width, work);
    tree(work.laneSquares, rows, work.squares);
    if (CENTRED) {
      tree(work.laneSums, rows, work.sums);
    }
  }

  static void superBlock(Rectangle x, int length, double shift, Workspace work) {
    work.shift[0] = shift;
    lanes(x, null, 1, length, work);
    addLanes(work.rowSquares, work.laneSquares);
    if (CENTRED) {
      addLanes(work.rowSums, work.laneSums);
    }
  }

  /** Element i of row r, or of its sum with the residual. */
  private static double element(Rectangle x, Rectangle residual, int r, int i) {
    long from = x.offset + r * x.stride;
    if (FLOAT64) {
      return Memory.getDouble(MEMORY, x.base, from, i);
    }
    float v = Memory.getFloat(MEMORY, x.base, from, i);
    if (!RESIDUAL) {
      return v;
    }
    return v
        + Memory.getFloat(SPEC.residual(), residual.base, residual.offset + r * residual.stride, i);
  }

  /** The first element of each row. */
  private static void first(Rectangle x, Rectangle residual, int rows, double[] shift) {
    for (int r = 0; r < rows; r++) {
      shift[r] = element(x, residual, r, 0);
    }
  }

  /** Every row, at most a super-block of it, into its lanes. */
  private static void lanes(Rectangle x, Rectangle residual, int rows, int n, Workspace work) {
    int whole = n - n % LANES;
    for (int s = 0; s < APART; s += VECTOR) {
      if (CENTRED) {
        moments(x, residual, rows, whole, s, work);
      } else {
        squares(x, residual, rows, whole, s, work);
      }
    }
    if (whole < n) {
      tails(x, residual, rows, whole, n, work);
    }
    if (whole >= BLOCK) {
      fold(rows, work.laneSquares, work.totalSquares);
      if (CENTRED) {
        fold(rows, work.laneSums, work.totalSums);
      }
    }
  }

  /** Adds the lanes of all blocks but the last to those of the last. */
  private static void fold(int rows, double[] lanes, double[] totals) {
    for (int l = 0; l < rows * LANES; l++) {
      lanes[l] += totals[l];
    }
  }

  private static void addLanes(double[] into, double[] lanes) {
    for (int j = 0; j < LANES; j++) {
      into[j] += lanes[j];
    }
  }

  /** A strip of each row's lanes of squares: of the open block, and of those before it. */
  private static void squares(
      Rectangle x, Rectangle residual, int rows, int n, int strip, Workspace work) {
    double[] lanes = work.laneSquares;
    double[] totals = work.totalSquares;
    Object base = x.base;
    Object sums = RESIDUAL ? residual.base : null;
    for (int r = 0; r < rows; r++) {
      long offset = x.offset + (long) BYTES * strip + r * x.stride;
      long sumOffset = RESIDUAL ? residual.offset + (long) BYTES * strip + r * residual.stride : 0;
      int start = (int) (offset >> SHIFT);
      int sumStart = (int) (sumOffset >> SHIFT);
      long from = offset & Memory.ADDRESSES;
      long sumFrom = sumOffset & Memory.ADDRESSES;
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
        int to = sumStart + i;
        long q = sumFrom + (long) BYTES * i;
        Vector<?> x0 = HEAP ? X.fromArray(base, at) : X.fromMemorySegment(NATIVE, p, ORDER);
        if (RESIDUAL) {
          FloatVector f0 =
              ((FloatVector) x0)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to)
                          : FloatVector.fromMemorySegment(F, NATIVE, q, ORDER));
          if (HEAP_RESIDUAL) {
            f0.intoArray((float[]) sums, to);
          } else {
            f0.intoMemorySegment(NATIVE, q, ORDER);
          }
          x0 = f0;
        }
        DoubleVector v0 = (DoubleVector) x0.castShape(D, 0);
        Vector<?> x1 =
            HEAP ? X.fromArray(base, at + APART) : X.fromMemorySegment(NATIVE, p + STEP, ORDER);
        if (RESIDUAL) {
          FloatVector f1 =
              ((FloatVector) x1)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to + APART)
                          : FloatVector.fromMemorySegment(F, NATIVE, q + STEP, ORDER));
          if (HEAP_RESIDUAL) {
            f1.intoArray((float[]) sums, to + APART);
          } else {
            f1.intoMemorySegment(NATIVE, q + STEP, ORDER);
          }
          x1 = f1;
        }
        DoubleVector v1 = (DoubleVector) x1.castShape(D, 0);
        Vector<?> x2 =
            HEAP
                ? X.fromArray(base, at + 2 * APART)
                : X.fromMemorySegment(NATIVE, p + 2 * STEP, ORDER);
        if (RESIDUAL) {
          FloatVector f2 =
              ((FloatVector) x2)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to + 2 * APART)
                          : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER));
          if (HEAP_RESIDUAL) {
            f2.intoArray((float[]) sums, to + 2 * APART);
          } else {
            f2.intoMemorySegment(NATIVE, q + 2 * STEP, ORDER);
          }
          x2 = f2;
        }
        DoubleVector v2 = (DoubleVector) x2.castShape(D, 0);
        Vector<?> x3 =
            HEAP
                ? X.fromArray(base, at + 3 * APART)
                : X.fromMemorySegment(NATIVE, p + 3 * STEP, ORDER);
        if (RESIDUAL) {
          FloatVector f3 =
              ((FloatVector) x3)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to + 3 * APART)
                          : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER));
          if (HEAP_RESIDUAL) {
            f3.intoArray((float[]) sums, to + 3 * APART);
          } else {
            f3.intoMemorySegment(NATIVE, q + 3 * STEP, ORDER);
          }
          x3 = f3;
        }
        DoubleVector v3 = (DoubleVector) x3.castShape(D, 0);
        a0 = FUSED ? v0.fma(v0, a0) : a0.add(v0.mul(v0));
        a1 = FUSED ? v1.fma(v1, a1) : a1.add(v1.mul(v1));
        a2 = FUSED ? v2.fma(v2, a2) : a2.add(v2.mul(v2));
        a3 = FUSED ? v3.fma(v3, a3) : a3.add(v3.mul(v3));
        if (!SPEC.width().narrow() && i % BLOCK == BLOCK - LANES) {
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
      int l = r * LANES + strip;
      a0.intoArray(lanes, l);
      a1.intoArray(lanes, l + APART);
      a2.intoArray(lanes, l + 2 * APART);
      a3.intoArray(lanes, l + 3 * APART);
      if (n >= BLOCK) {
        t0.intoArray(totals, l);
        t1.intoArray(totals, l + APART);
        t2.intoArray(totals, l + 2 * APART);
        t3.intoArray(totals, l + 3 * APART);
      }
    }
  }

  /** The same for differences from each row's shift and for their squares. */
  private static void moments(
      Rectangle x, Rectangle residual, int rows, int n, int strip, Workspace work) {
    Object base = x.base;
    Object sums = RESIDUAL ? residual.base : null;
    for (int r = 0; r < rows; r++) {
      long offset = x.offset + (long) BYTES * strip + r * x.stride;
      long sumOffset = RESIDUAL ? residual.offset + (long) BYTES * strip + r * residual.stride : 0;
      int start = (int) (offset >> SHIFT);
      int sumStart = (int) (sumOffset >> SHIFT);
      long from = offset & Memory.ADDRESSES;
      long sumFrom = sumOffset & Memory.ADDRESSES;
      DoubleVector shift = DoubleVector.broadcast(D, work.shift[r]);
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
        int to = sumStart + i;
        long q = sumFrom + (long) BYTES * i;
        Vector<?> x0 = HEAP ? X.fromArray(base, at) : X.fromMemorySegment(NATIVE, p, ORDER);
        if (RESIDUAL) {
          FloatVector f0 =
              ((FloatVector) x0)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to)
                          : FloatVector.fromMemorySegment(F, NATIVE, q, ORDER));
          if (HEAP_RESIDUAL) {
            f0.intoArray((float[]) sums, to);
          } else {
            f0.intoMemorySegment(NATIVE, q, ORDER);
          }
          x0 = f0;
        }
        DoubleVector v0 = (DoubleVector) x0.castShape(D, 0);
        Vector<?> x1 =
            HEAP ? X.fromArray(base, at + APART) : X.fromMemorySegment(NATIVE, p + STEP, ORDER);
        if (RESIDUAL) {
          FloatVector f1 =
              ((FloatVector) x1)
                  .add(
                      HEAP_RESIDUAL
                          ? FloatVector.fromArray(F, (float[]) sums, to + APART)
                          : FloatVector.fromMemorySegment(F, NATIVE, q + STEP, ORDER));
          if (HEAP_RESIDUAL) {
            f1.intoArray((float[]) sums, to + APART);
          } else {
            f1.intoMemorySegment(NATIVE, q + STEP, ORDER);
          }
          x1 = f1;
        }
        DoubleVector v1 = (DoubleVector) x1.castShape(D, 0);
        DoubleVector d0 = v0.sub(shift);
        DoubleVector d1 = v1.sub(shift);
        s0 = s0.add(d0);
        s1 = s1.add(d1);
        q0 = q0.add(d0.mul(d0));
        q1 = q1.add(d1.mul(d1));
        if (!SPEC.width().narrow() && i % BLOCK == BLOCK - LANES) {
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
      int l = r * LANES + strip;
      s0.intoArray(work.laneSums, l);
      s1.intoArray(work.laneSums, l + APART);
      q0.intoArray(work.laneSquares, l);
      q1.intoArray(work.laneSquares, l + APART);
      if (n >= BLOCK) {
        ts0.intoArray(work.totalSums, l);
        ts1.intoArray(work.totalSums, l + APART);
        tq0.intoArray(work.totalSquares, l);
        tq1.intoArray(work.totalSquares, l + APART);
      }
    }
  }

  /** The last elements of each row, fewer than 32, go to the lanes of the open block one by one. */
  private static void tails(
      Rectangle x, Rectangle residual, int rows, int from, int n, Workspace work) {
    for (int r = 0; r < rows; r++) {
      for (int i = from; i < n; i++) {
        double v = element(x, residual, r, i);
        if (RESIDUAL) {
          long at = residual.offset + r * residual.stride;
          Memory.setFloat(SPEC.residual(), residual.base, at, i, (float) v);
        }
        int l = r * LANES + i - from;
        if (CENTRED) {
          v -= work.shift[r];
          work.laneSums[l] += v;
        }
        work.laneSquares[l] += v * v;
      }
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
