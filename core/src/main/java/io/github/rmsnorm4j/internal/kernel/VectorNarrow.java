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
 * those of {@link RowSum}; and, staggered, the output of as many other rows in the same loop, see
 * {@link VectorStaggered}; not of centred ones, which would be too much for one loop. A row's lanes
 * stay in registers, and its tree down to one vector; what is left of the trees is done for all
 * rows at the end.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorNarrow {
  private static final Record SPEC = Kernels.choices(MethodHandles.lookup(), Record.class);
  private static final StaggeredKernel.Spec STAGGERED =
      SPEC instanceof StaggeredKernel.Spec staggered ? staggered : null;
  private static final StatisticKernel.Spec SUMS =
      SPEC instanceof StatisticKernel.Spec sums ? sums : null;

  /** Whether other rows are written meanwhile. */
  private static final boolean WRITES = STAGGERED != null;

  private static final boolean HEAP = (WRITES ? STAGGERED.in() : SUMS.memory()) == Memory.HEAP;
  private static final boolean CENTRED = !WRITES && SUMS.centred();
  private static final boolean HEAP_OUT = !WRITES || STAGGERED.out() == Memory.HEAP;
  private static final boolean DIVIDED = WRITES && STAGGERED.scaling() == Scaling.DIVIDED;
  private static final boolean GAIN = WRITES && STAGGERED.gain();
  private static final boolean BIAS = WRITES && STAGGERED.bias();
  private static final int BITS = WRITES ? STAGGERED.vectorBits() : SUMS.vectorBits();

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(BITS));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(BITS / 2));

  /** Of outputs. */
  private static final VectorSpecies<Float> Y =
      VectorSpecies.of(float.class, VectorShape.forBitSize(BITS));

  /** A constant, so that the JIT leaves no loop over a row's elements. */
  private static final int WIDTH = WRITES ? STAGGERED.lanes() : SUMS.width().lanes();

  private static final int LANES = RowSum.LANES;
  private static final int VECTOR = D.length();
  private static final long STEP = 4L * VECTOR;
  private static final int FLOATS = Y.length();
  private static final long BYTES = 4L * FLOATS;

  /** Whether the lanes are eight vectors, and not four. */
  private static final boolean EIGHT = LANES / VECTOR == 8;

  private static final MemorySegment NATIVE = HEAP && HEAP_OUT ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** See {@link VectorStatistic}. */
  private static final boolean FUSED = VectorHardware.FUSED_MULTIPLY_ADD;

  private VectorNarrow() {}

  static void rows(Rectangle x, Rectangle residual, int rows, int width, Workspace work) {
    rows(x, residual, rows, width, null, null, null, null, work);
  }

  /** Without a residual, which narrow kernels are not made for. */
  static void rows(
      Rectangle x,
      Rectangle residual,
      int rows,
      int width,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    if (CENTRED) {
      moments(x, rows, work);
      RowSum.trees(work.laneSums, VECTOR, rows, work.sums);
    } else {
      squares(x, rows, in, out, gain, bias, work);
    }
    RowSum.trees(work.laneSquares, VECTOR, rows, work.squares);
  }

  /** Of each row the sum of squares, as one vector of partial sums. */
  private static void squares(
      Rectangle x,
      int rows,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    double[] squares = work.laneSquares;
    float[] xs = HEAP ? (float[]) x.base : null;
    float[] is = WRITES && HEAP ? (float[]) in.base : null;
    float[] os = WRITES && HEAP_OUT ? (float[]) out.base : null;
    long stride = x.stride;
    long inStride = WRITES ? in.stride : 0;
    long outStride = WRITES ? out.stride : 0;
    long offset = x.offset - stride;
    long inOffset = WRITES ? in.offset - inStride : 0;
    long outOffset = WRITES ? out.offset - outStride : 0;
    double[] bys = WRITES ? DIVIDED ? work.root : work.rstd : null;
    for (int r = 0; r < rows; r++) {
      offset += stride;
      inOffset += inStride;
      outOffset += outStride;
      int start = (int) (offset >> 2);
      int inStart = (int) (inOffset >> 2);
      int outStart = (int) (outOffset >> 2);
      long from = offset & Memory.ADDRESSES;
      long inFrom = inOffset & Memory.ADDRESSES;
      long outFrom = outOffset & Memory.ADDRESSES;
      FloatVector by = WRITES ? FloatVector.broadcast(Y, (float) bys[r]) : null;
      DoubleVector a0 = DoubleVector.zero(D);
      DoubleVector a1 = a0;
      DoubleVector a2 = a0;
      DoubleVector a3 = a0;
      DoubleVector a4 = a0;
      DoubleVector a5 = a0;
      DoubleVector a6 = a0;
      DoubleVector a7 = a0;
      for (int i = 0; i < WIDTH; i += LANES) {
        int at = start + i;
        long p = from + 4L * i;
        long s = inFrom + 4L * i;
        long t = outFrom + 4L * i;

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

        if (WRITES) {
          FloatVector x0 =
              HEAP
                  ? FloatVector.fromArray(Y, is, inStart + i + 0 * FLOATS)
                  : FloatVector.fromMemorySegment(Y, NATIVE, s + 0 * BYTES, ORDER);
          FloatVector n0 = DIVIDED ? x0.div(by) : x0.mul(by);
          FloatVector m0 = GAIN ? n0.mul(FloatVector.fromArray(Y, gain, i + 0 * FLOATS)) : n0;
          FloatVector y0 = BIAS ? m0.add(FloatVector.fromArray(Y, bias, i + 0 * FLOATS)) : m0;
          if (HEAP_OUT) {
            y0.intoArray(os, outStart + i + 0 * FLOATS);
          } else {
            y0.intoMemorySegment(NATIVE, t + 0 * BYTES, ORDER);
          }
          FloatVector x1 =
              HEAP
                  ? FloatVector.fromArray(Y, is, inStart + i + 1 * FLOATS)
                  : FloatVector.fromMemorySegment(Y, NATIVE, s + 1 * BYTES, ORDER);
          FloatVector n1 = DIVIDED ? x1.div(by) : x1.mul(by);
          FloatVector m1 = GAIN ? n1.mul(FloatVector.fromArray(Y, gain, i + 1 * FLOATS)) : n1;
          FloatVector y1 = BIAS ? m1.add(FloatVector.fromArray(Y, bias, i + 1 * FLOATS)) : m1;
          if (HEAP_OUT) {
            y1.intoArray(os, outStart + i + 1 * FLOATS);
          } else {
            y1.intoMemorySegment(NATIVE, t + 1 * BYTES, ORDER);
          }
        }
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

          if (WRITES) {
            FloatVector x2 =
                HEAP
                    ? FloatVector.fromArray(Y, is, inStart + i + 2 * FLOATS)
                    : FloatVector.fromMemorySegment(Y, NATIVE, s + 2 * BYTES, ORDER);
            FloatVector n2 = DIVIDED ? x2.div(by) : x2.mul(by);
            FloatVector m2 = GAIN ? n2.mul(FloatVector.fromArray(Y, gain, i + 2 * FLOATS)) : n2;
            FloatVector y2 = BIAS ? m2.add(FloatVector.fromArray(Y, bias, i + 2 * FLOATS)) : m2;
            if (HEAP_OUT) {
              y2.intoArray(os, outStart + i + 2 * FLOATS);
            } else {
              y2.intoMemorySegment(NATIVE, t + 2 * BYTES, ORDER);
            }
            FloatVector x3 =
                HEAP
                    ? FloatVector.fromArray(Y, is, inStart + i + 3 * FLOATS)
                    : FloatVector.fromMemorySegment(Y, NATIVE, s + 3 * BYTES, ORDER);
            FloatVector n3 = DIVIDED ? x3.div(by) : x3.mul(by);
            FloatVector m3 = GAIN ? n3.mul(FloatVector.fromArray(Y, gain, i + 3 * FLOATS)) : n3;
            FloatVector y3 = BIAS ? m3.add(FloatVector.fromArray(Y, bias, i + 3 * FLOATS)) : m3;
            if (HEAP_OUT) {
              y3.intoArray(os, outStart + i + 3 * FLOATS);
            } else {
              y3.intoMemorySegment(NATIVE, t + 3 * BYTES, ORDER);
            }
          }
        }
      }
      DoubleVector e0 = EIGHT ? a0.add(a4) : a0;
      DoubleVector e1 = EIGHT ? a1.add(a5) : a1;
      DoubleVector e2 = EIGHT ? a2.add(a6) : a2;
      DoubleVector e3 = EIGHT ? a3.add(a7) : a3;
      e0.add(e2).add(e1.add(e3)).intoArray(squares, r * LANES);
    }
  }

  /** The same for differences from each row's first element, and for their squares. */
  private static void moments(Rectangle x, int rows, Workspace work) {
    float[] xs = HEAP ? (float[]) x.base : null;
    double[] sums = work.laneSums;
    double[] squares = work.laneSquares;
    double[] shifts = work.shift;
    long stride = x.stride;
    long offset = x.offset - stride;
    for (int r = 0; r < rows; r++) {
      offset += stride;
      int start = (int) (offset >> 2);
      long from = offset & Memory.ADDRESSES;
      double first = HEAP ? xs[start] : Memory.getFloat(Memory.NATIVE, null, offset, 0);
      shifts[r] = first;
      DoubleVector shift = DoubleVector.broadcast(D, first);
      DoubleVector s0 = DoubleVector.zero(D);
      DoubleVector s1 = s0;
      DoubleVector s2 = s0;
      DoubleVector s3 = s0;
      DoubleVector q0 = s0;
      DoubleVector q1 = s0;
      DoubleVector q2 = s0;
      DoubleVector q3 = s0;
      for (int i = 0; i < WIDTH; i += LANES) {
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
        for (int i = LANES / 2; i < WIDTH; i += LANES) {
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
      s0.add(s2).add(s1.add(s3)).intoArray(sums, r * LANES);
      q0.add(q2).add(q1.add(q3)).intoArray(squares, r * LANES);
    }
  }
}
