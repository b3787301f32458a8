package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Row sums of float32 rows that are narrow and of whole lanes, with the Vector API, bit for bit
 * those of {@link RowSum}. A row's lanes stay in registers, and its tree down to one vector; what
 * is left of the trees is done for all rows at the end.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorNarrowStatistic {
  private static final StatisticKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), StatisticKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean HEAP = SPEC.memory() == Memory.HEAP;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  private static final int LANES = RowSum.LANES;
  private static final int VECTOR = D.length();
  private static final long STEP = 4L * VECTOR;

  /** Whether the lanes are eight vectors, and not four. */
  private static final boolean EIGHT = LANES / VECTOR == 8;

  private static final MemorySegment NATIVE = HEAP ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** See {@link VectorStatistic}. */
  private static final boolean FUSED = VectorHardware.FUSED_MULTIPLY_ADD;

  private VectorNarrowStatistic() {}

  static void rows(Rectangle x, Rectangle residual, int rows, int width, Workspace work) {
    if (CENTRED) {
      moments(x, rows, width, work);
      sums(work.laneSums, rows, work.sums);
    } else {
      squares(x, rows, width, work);
    }
    sums(work.laneSquares, rows, work.squares);
  }

  /** The last levels of each row's tree. */
  private static void sums(double[] lanes, int rows, double[] sum) {
    if (!EIGHT) {
      for (int l = 0; l < rows * VECTOR; l += 8) {
        lanes[l / 2] = lanes[l] + lanes[l + 4];
        lanes[l / 2 + 1] = lanes[l + 1] + lanes[l + 5];
        lanes[l / 2 + 2] = lanes[l + 2] + lanes[l + 6];
        lanes[l / 2 + 3] = lanes[l + 3] + lanes[l + 7];
      }
    }
    for (int r = 0; r < rows; r++) {
      int l = 4 * r;
      sum[r] = (lanes[l] + lanes[l + 2]) + (lanes[l + 1] + lanes[l + 3]);
    }
  }

  /** Of each row the sum of squares, as one vector of partial sums. */
  private static void squares(Rectangle x, int rows, int width, Workspace work) {
    float[] xs = HEAP ? (float[]) x.base : null;
    for (int r = 0; r < rows; r++) {
      long offset = x.offset + r * x.stride;
      int start = (int) (offset >> 2);
      long from = offset & Memory.ADDRESSES;
      DoubleVector a0 = DoubleVector.zero(D);
      DoubleVector a1 = a0;
      DoubleVector a2 = a0;
      DoubleVector a3 = a0;
      DoubleVector a4 = a0;
      DoubleVector a5 = a0;
      DoubleVector a6 = a0;
      DoubleVector a7 = a0;
      for (int i = 0; i < width; i += LANES) {
        int at = start + i;
        long p = from + 4L * i;
        DoubleVector v0 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 0 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER))
                    .castShape(D, 0);
        a0 = FUSED ? v0.fma(v0, a0) : a0.add(v0.mul(v0));
        DoubleVector v1 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 1 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER))
                    .castShape(D, 0);
        a1 = FUSED ? v1.fma(v1, a1) : a1.add(v1.mul(v1));
        DoubleVector v2 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 2 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER))
                    .castShape(D, 0);
        a2 = FUSED ? v2.fma(v2, a2) : a2.add(v2.mul(v2));
        DoubleVector v3 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 3 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER))
                    .castShape(D, 0);
        a3 = FUSED ? v3.fma(v3, a3) : a3.add(v3.mul(v3));
        if (EIGHT) {
          DoubleVector v4 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 4 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 4 * STEP, ORDER))
                      .castShape(D, 0);
          a4 = FUSED ? v4.fma(v4, a4) : a4.add(v4.mul(v4));
          DoubleVector v5 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 5 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 5 * STEP, ORDER))
                      .castShape(D, 0);
          a5 = FUSED ? v5.fma(v5, a5) : a5.add(v5.mul(v5));
          DoubleVector v6 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 6 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 6 * STEP, ORDER))
                      .castShape(D, 0);
          a6 = FUSED ? v6.fma(v6, a6) : a6.add(v6.mul(v6));
          DoubleVector v7 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 7 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 7 * STEP, ORDER))
                      .castShape(D, 0);
          a7 = FUSED ? v7.fma(v7, a7) : a7.add(v7.mul(v7));
        }
      }
      DoubleVector e0 = EIGHT ? a0.add(a4) : a0;
      DoubleVector e1 = EIGHT ? a1.add(a5) : a1;
      DoubleVector e2 = EIGHT ? a2.add(a6) : a2;
      DoubleVector e3 = EIGHT ? a3.add(a7) : a3;
      e0.add(e2).add(e1.add(e3)).intoArray(work.laneSquares, r * VECTOR);
    }
  }

  /** The same for differences from each row's first element, and for their squares. */
  private static void moments(Rectangle x, int rows, int width, Workspace work) {
    float[] xs = HEAP ? (float[]) x.base : null;
    for (int r = 0; r < rows; r++) {
      long offset = x.offset + r * x.stride;
      int start = (int) (offset >> 2);
      long from = offset & Memory.ADDRESSES;
      double first = HEAP ? xs[start] : Memory.getFloat(Memory.NATIVE, null, offset, 0);
      work.shift[r] = first;
      DoubleVector shift = DoubleVector.broadcast(D, first);
      DoubleVector s0 = DoubleVector.zero(D);
      DoubleVector s1 = s0;
      DoubleVector s2 = s0;
      DoubleVector s3 = s0;
      DoubleVector q0 = s0;
      DoubleVector q1 = s0;
      DoubleVector q2 = s0;
      DoubleVector q3 = s0;
      for (int i = 0; i < width; i += LANES) {
        int at = start + i;
        long p = from + 4L * i;
        DoubleVector v0 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 0 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER))
                    .castShape(D, 0);
        DoubleVector d0 = v0.sub(shift);
        s0 = s0.add(d0);
        q0 = q0.add(d0.mul(d0));
        DoubleVector v1 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 1 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER))
                    .castShape(D, 0);
        DoubleVector d1 = v1.sub(shift);
        s1 = s1.add(d1);
        q1 = q1.add(d1.mul(d1));
        DoubleVector v2 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 2 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER))
                    .castShape(D, 0);
        DoubleVector d2 = v2.sub(shift);
        s2 = s2.add(d2);
        q2 = q2.add(d2.mul(d2));
        DoubleVector v3 =
            (DoubleVector)
                (HEAP
                        ? FloatVector.fromArray(F, xs, at + 3 * VECTOR)
                        : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER))
                    .castShape(D, 0);
        DoubleVector d3 = v3.sub(shift);
        s3 = s3.add(d3);
        q3 = q3.add(d3.mul(d3));
      }
      if (EIGHT) {
        // The other lanes, from the middle of every 32 elements on.
        DoubleVector t0 = DoubleVector.zero(D);
        DoubleVector t1 = t0;
        DoubleVector t2 = t0;
        DoubleVector t3 = t0;
        DoubleVector u0 = t0;
        DoubleVector u1 = t0;
        DoubleVector u2 = t0;
        DoubleVector u3 = t0;
        for (int i = LANES / 2; i < width; i += LANES) {
          int at = start + i;
          long p = from + 4L * i;
          DoubleVector v0 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 0 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER))
                      .castShape(D, 0);
          DoubleVector d0 = v0.sub(shift);
          t0 = t0.add(d0);
          u0 = u0.add(d0.mul(d0));
          DoubleVector v1 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 1 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER))
                      .castShape(D, 0);
          DoubleVector d1 = v1.sub(shift);
          t1 = t1.add(d1);
          u1 = u1.add(d1.mul(d1));
          DoubleVector v2 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 2 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER))
                      .castShape(D, 0);
          DoubleVector d2 = v2.sub(shift);
          t2 = t2.add(d2);
          u2 = u2.add(d2.mul(d2));
          DoubleVector v3 =
              (DoubleVector)
                  (HEAP
                          ? FloatVector.fromArray(F, xs, at + 3 * VECTOR)
                          : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER))
                      .castShape(D, 0);
          DoubleVector d3 = v3.sub(shift);
          t3 = t3.add(d3);
          u3 = u3.add(d3.mul(d3));
        }
        s0 = s0.add(t0);
        q0 = q0.add(u0);
        s1 = s1.add(t1);
        q1 = q1.add(u1);
        s2 = s2.add(t2);
        q2 = q2.add(u2);
        s3 = s3.add(t3);
        q3 = q3.add(u3);
      }
      s0.add(s2).add(s1.add(s3)).intoArray(work.laneSums, r * VECTOR);
      q0.add(q2).add(q1.add(q3)).intoArray(work.laneSquares, r * VECTOR);
    }
  }
}
