package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums of some rows and output of others in one loop, with the Vector API: bit for bit those of
 * {@link VectorStatistic} and {@link VectorOutput}. Sums wait for conversions to float64, outputs
 * for memory; together they take little longer than the one of them.
 *
 * <p>Eight accumulators, which at 256 bits are all 32 lanes or, of centred rows, half of them: a
 * row is swept once or twice. Each sweep writes its share of the other row. With vectors of 512
 * bits four are all lanes.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorStaggered {
  private static final StaggeredKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), StaggeredKernel.Spec.class);
  private static final boolean HEAP = SPEC.in() == Memory.HEAP;
  private static final boolean HEAP_OUT = SPEC.out() == Memory.HEAP;
  private static final boolean RESIDUAL = SPEC.residual();
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean DIVIDED = SPEC.scaling() == Scaling.DIVIDED;
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  /** Of outputs. */
  private static final VectorSpecies<Float> Y =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits()));

  private static final int LANES = RowSum.LANES;
  private static final int BLOCK = RowSum.BLOCK;
  private static final int FLOATS = Y.length();
  private static final long VECTOR = 4L * FLOATS;

  /** Vectors of lanes that a sweep adds up. */
  private static final int VECTORS = CENTRED || D.length() == 8 ? 4 : 8;

  private static final boolean EIGHT = VECTORS == 8;

  /** Elements from one of them to the next, see {@link VectorStatistic}. */
  private static final int APART = LANES / VECTORS;

  private static final long STEP = 4L * APART;
  private static final int SWEEPS = APART / D.length();

  /** Elements that are written for every 32 that are added up, in two vectors or four. */
  private static final int SHARE = LANES / SWEEPS;

  private static final boolean FOUR = SHARE == 4 * FLOATS;

  private static final MemorySegment NATIVE = HEAP && HEAP_OUT ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** See {@link VectorStatistic}. */
  private static final boolean FUSED = VectorHardware.FUSED_MULTIPLY_ADD;

  private VectorStaggered() {}

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
    int whole = width - width % LANES;
    int lanes = rows * LANES;
    Arrays.fill(work.totalSquares, 0, lanes, 0.0);
    if (CENTRED) {
      Arrays.fill(work.totalSums, 0, lanes, 0.0);
    }
    for (int r = 0; r < rows; r++) {
      if (CENTRED) {
        work.shift[r] = element(x, residual, r, 0);
      }
      for (int from = 0; from < whole; from += BLOCK) {
        int n = Math.min(BLOCK, whole - from);
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
          if (CENTRED) {
            moments(x, residual, r, from, n, sweep, in, out, gain, bias, work);
          } else {
            squares(x, residual, r, from, n, sweep, in, out, gain, bias, work);
          }
        }
        if (n == BLOCK) {
          fold(work.laneSquares, work.totalSquares, r * LANES);
          if (CENTRED) {
            fold(work.laneSums, work.totalSums, r * LANES);
          }
        }
      }
      if (whole < width) {
        tail(x, residual, r, whole, width, work);
        outputTail(r, whole, width, in, out, gain, bias, work);
      }
      int l = r * LANES;
      work.squares[r] = total(work.laneSquares, work.totalSquares, l);
      if (CENTRED) {
        work.sums[r] = total(work.laneSums, work.totalSums, l);
      }
    }
  }

  /** Adds the lanes of a block to those of the blocks before it, and starts anew. */
  private static void fold(double[] lanes, double[] totals, int at) {
    for (int l = at; l < at + LANES; l++) {
      totals[l] += lanes[l];
      lanes[l] = 0.0;
    }
  }

  /** The lanes of the open block and those before it, and all lanes as a tree. */
  private static double total(double[] lanes, double[] totals, int at) {
    for (int l = at; l < at + LANES; l++) {
      lanes[l] += totals[l];
    }
    return RowSum.tree(lanes, at);
  }

  /** Element i of row r, or of its sum with the residual. */
  private static double element(Rectangle x, Rectangle residual, int r, int i) {
    float v = Memory.getFloat(SPEC.in(), x.base, x.offset + r * x.stride, i);
    return RESIDUAL
        ? v + Memory.getFloat(SPEC.in(), residual.base, residual.offset + r * residual.stride, i)
        : v;
  }

  /** The last elements of a row, fewer than 32, go to the lanes of the open block one by one. */
  private static void tail(
      Rectangle x, Rectangle residual, int r, int from, int n, Workspace work) {
    for (int i = from; i < n; i++) {
      double v = element(x, residual, r, i);
      if (RESIDUAL) {
        long at = residual.offset + r * residual.stride;
        Memory.setFloat(SPEC.in(), residual.base, at, i, (float) v);
      }
      int l = r * LANES + i - from;
      if (CENTRED) {
        v -= work.shift[r];
        work.laneSums[l] += v;
      }
      work.laneSquares[l] += v * v;
    }
  }

  private static void outputTail(
      int r,
      int from,
      int n,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    float hi = (float) work.mean[r];
    float lo = (float) (work.mean[r] - hi);
    OutputRow.floats(
        SPEC.in(),
        in.base,
        in.offset + r * in.stride,
        SPEC.out(),
        out.base,
        out.offset + r * out.stride,
        from,
        n,
        CENTRED,
        SPEC.scaling(),
        hi,
        lo,
        (float) (DIVIDED ? work.root[r] : work.rstd[r]),
        GAIN ? gain : null,
        BIAS ? bias : null,
        0);
  }

  /** A sweep over a row's squares, and over its share of another's output. */
  private static void squares(
      Rectangle x,
      Rectangle residual,
      int r,
      int from,
      int n,
      int sweep,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    double[] lanes = work.laneSquares;
    int strip = sweep * D.length();
    float[] xs = HEAP ? (float[]) x.base : null;
    float[] hs = HEAP && RESIDUAL ? (float[]) residual.base : null;
    float[] is = HEAP ? (float[]) in.base : null;
    float[] os = HEAP_OUT ? (float[]) out.base : null;
    long xOffset = x.offset + r * x.stride + 4L * (from + strip);
    long hOffset = RESIDUAL ? residual.offset + r * residual.stride + 4L * (from + strip) : 0;
    // The sweep's share of the row that is written.
    int column = from + n / SWEEPS * sweep;
    long inOffset = in.offset + r * in.stride + 4L * column;
    long outOffset = out.offset + r * out.stride + 4L * column;
    int xStart = (int) (xOffset >> 2);
    int hStart = (int) (hOffset >> 2);
    int inStart = (int) (inOffset >> 2);
    int outStart = (int) (outOffset >> 2);
    long xFrom = xOffset & Memory.ADDRESSES;
    long hFrom = hOffset & Memory.ADDRESSES;
    long inFrom = inOffset & Memory.ADDRESSES;
    long outFrom = outOffset & Memory.ADDRESSES;
    float mean = (float) work.mean[r];
    FloatVector hi = FloatVector.broadcast(Y, mean);
    FloatVector lo = FloatVector.broadcast(Y, (float) (work.mean[r] - mean));
    FloatVector by = FloatVector.broadcast(Y, (float) (DIVIDED ? work.root[r] : work.rstd[r]));
    int l = r * LANES + strip;
    DoubleVector a0 = DoubleVector.zero(D);
    DoubleVector a1 = a0;
    DoubleVector a2 = a0;
    DoubleVector a3 = a0;
    DoubleVector a4 = a0;
    DoubleVector a5 = a0;
    DoubleVector a6 = a0;
    DoubleVector a7 = a0;
    for (int i = 0; i < n; i += LANES) {
      int j = i / SWEEPS;
      int at = xStart + i;
      long p = xFrom + 4L * i;
      int to = hStart + i;
      long q = hFrom + 4L * i;
      int i0 = inStart + j;
      long s = inFrom + 4L * j;
      int o0 = outStart + j;
      long t = outFrom + 4L * j;
      int c = column + j;
      FloatVector f0 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 0 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER);
      if (RESIDUAL) {
        f0 =
            f0.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 0 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, q + 0 * STEP, ORDER));
        if (HEAP) {
          f0.intoArray(hs, to + 0 * APART);
        } else {
          f0.intoMemorySegment(NATIVE, q + 0 * STEP, ORDER);
        }
      }
      DoubleVector v0 = (DoubleVector) f0.castShape(D, 0);
      a0 = FUSED ? v0.fma(v0, a0) : a0.add(v0.mul(v0));
      FloatVector f1 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 1 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER);
      if (RESIDUAL) {
        f1 =
            f1.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 1 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, q + 1 * STEP, ORDER));
        if (HEAP) {
          f1.intoArray(hs, to + 1 * APART);
        } else {
          f1.intoMemorySegment(NATIVE, q + 1 * STEP, ORDER);
        }
      }
      DoubleVector v1 = (DoubleVector) f1.castShape(D, 0);
      a1 = FUSED ? v1.fma(v1, a1) : a1.add(v1.mul(v1));
      FloatVector f2 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 2 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER);
      if (RESIDUAL) {
        f2 =
            f2.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 2 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER));
        if (HEAP) {
          f2.intoArray(hs, to + 2 * APART);
        } else {
          f2.intoMemorySegment(NATIVE, q + 2 * STEP, ORDER);
        }
      }
      DoubleVector v2 = (DoubleVector) f2.castShape(D, 0);
      a2 = FUSED ? v2.fma(v2, a2) : a2.add(v2.mul(v2));
      FloatVector f3 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 3 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER);
      if (RESIDUAL) {
        f3 =
            f3.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 3 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER));
        if (HEAP) {
          f3.intoArray(hs, to + 3 * APART);
        } else {
          f3.intoMemorySegment(NATIVE, q + 3 * STEP, ORDER);
        }
      }
      DoubleVector v3 = (DoubleVector) f3.castShape(D, 0);
      a3 = FUSED ? v3.fma(v3, a3) : a3.add(v3.mul(v3));
      FloatVector x0 =
          HEAP
              ? FloatVector.fromArray(Y, is, i0 + 0 * FLOATS)
              : FloatVector.fromMemorySegment(Y, NATIVE, s + 0 * VECTOR, ORDER);
      FloatVector d0 = CENTRED ? x0.sub(hi).sub(lo) : x0;
      FloatVector n0 = DIVIDED ? d0.div(by) : d0.mul(by);
      FloatVector m0 = GAIN ? n0.mul(FloatVector.fromArray(Y, gain, c + 0 * FLOATS)) : n0;
      FloatVector y0 = BIAS ? m0.add(FloatVector.fromArray(Y, bias, c + 0 * FLOATS)) : m0;
      if (HEAP_OUT) {
        y0.intoArray(os, o0 + 0 * FLOATS);
      } else {
        y0.intoMemorySegment(NATIVE, t + 0 * VECTOR, ORDER);
      }
      FloatVector x1 =
          HEAP
              ? FloatVector.fromArray(Y, is, i0 + 1 * FLOATS)
              : FloatVector.fromMemorySegment(Y, NATIVE, s + 1 * VECTOR, ORDER);
      FloatVector d1 = CENTRED ? x1.sub(hi).sub(lo) : x1;
      FloatVector n1 = DIVIDED ? d1.div(by) : d1.mul(by);
      FloatVector m1 = GAIN ? n1.mul(FloatVector.fromArray(Y, gain, c + 1 * FLOATS)) : n1;
      FloatVector y1 = BIAS ? m1.add(FloatVector.fromArray(Y, bias, c + 1 * FLOATS)) : m1;
      if (HEAP_OUT) {
        y1.intoArray(os, o0 + 1 * FLOATS);
      } else {
        y1.intoMemorySegment(NATIVE, t + 1 * VECTOR, ORDER);
      }
      if (EIGHT) {
        FloatVector f4 =
            HEAP
                ? FloatVector.fromArray(F, xs, at + 4 * APART)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 4 * STEP, ORDER);
        if (RESIDUAL) {
          f4 =
              f4.add(
                  HEAP
                      ? FloatVector.fromArray(F, hs, to + 4 * APART)
                      : FloatVector.fromMemorySegment(F, NATIVE, q + 4 * STEP, ORDER));
          if (HEAP) {
            f4.intoArray(hs, to + 4 * APART);
          } else {
            f4.intoMemorySegment(NATIVE, q + 4 * STEP, ORDER);
          }
        }
        DoubleVector v4 = (DoubleVector) f4.castShape(D, 0);
        a4 = FUSED ? v4.fma(v4, a4) : a4.add(v4.mul(v4));
        FloatVector f5 =
            HEAP
                ? FloatVector.fromArray(F, xs, at + 5 * APART)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 5 * STEP, ORDER);
        if (RESIDUAL) {
          f5 =
              f5.add(
                  HEAP
                      ? FloatVector.fromArray(F, hs, to + 5 * APART)
                      : FloatVector.fromMemorySegment(F, NATIVE, q + 5 * STEP, ORDER));
          if (HEAP) {
            f5.intoArray(hs, to + 5 * APART);
          } else {
            f5.intoMemorySegment(NATIVE, q + 5 * STEP, ORDER);
          }
        }
        DoubleVector v5 = (DoubleVector) f5.castShape(D, 0);
        a5 = FUSED ? v5.fma(v5, a5) : a5.add(v5.mul(v5));
        FloatVector f6 =
            HEAP
                ? FloatVector.fromArray(F, xs, at + 6 * APART)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 6 * STEP, ORDER);
        if (RESIDUAL) {
          f6 =
              f6.add(
                  HEAP
                      ? FloatVector.fromArray(F, hs, to + 6 * APART)
                      : FloatVector.fromMemorySegment(F, NATIVE, q + 6 * STEP, ORDER));
          if (HEAP) {
            f6.intoArray(hs, to + 6 * APART);
          } else {
            f6.intoMemorySegment(NATIVE, q + 6 * STEP, ORDER);
          }
        }
        DoubleVector v6 = (DoubleVector) f6.castShape(D, 0);
        a6 = FUSED ? v6.fma(v6, a6) : a6.add(v6.mul(v6));
        FloatVector f7 =
            HEAP
                ? FloatVector.fromArray(F, xs, at + 7 * APART)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 7 * STEP, ORDER);
        if (RESIDUAL) {
          f7 =
              f7.add(
                  HEAP
                      ? FloatVector.fromArray(F, hs, to + 7 * APART)
                      : FloatVector.fromMemorySegment(F, NATIVE, q + 7 * STEP, ORDER));
          if (HEAP) {
            f7.intoArray(hs, to + 7 * APART);
          } else {
            f7.intoMemorySegment(NATIVE, q + 7 * STEP, ORDER);
          }
        }
        DoubleVector v7 = (DoubleVector) f7.castShape(D, 0);
        a7 = FUSED ? v7.fma(v7, a7) : a7.add(v7.mul(v7));
      }
      if (FOUR) {
        FloatVector x2 =
            HEAP
                ? FloatVector.fromArray(Y, is, i0 + 2 * FLOATS)
                : FloatVector.fromMemorySegment(Y, NATIVE, s + 2 * VECTOR, ORDER);
        FloatVector d2 = CENTRED ? x2.sub(hi).sub(lo) : x2;
        FloatVector n2 = DIVIDED ? d2.div(by) : d2.mul(by);
        FloatVector m2 = GAIN ? n2.mul(FloatVector.fromArray(Y, gain, c + 2 * FLOATS)) : n2;
        FloatVector y2 = BIAS ? m2.add(FloatVector.fromArray(Y, bias, c + 2 * FLOATS)) : m2;
        if (HEAP_OUT) {
          y2.intoArray(os, o0 + 2 * FLOATS);
        } else {
          y2.intoMemorySegment(NATIVE, t + 2 * VECTOR, ORDER);
        }
        FloatVector x3 =
            HEAP
                ? FloatVector.fromArray(Y, is, i0 + 3 * FLOATS)
                : FloatVector.fromMemorySegment(Y, NATIVE, s + 3 * VECTOR, ORDER);
        FloatVector d3 = CENTRED ? x3.sub(hi).sub(lo) : x3;
        FloatVector n3 = DIVIDED ? d3.div(by) : d3.mul(by);
        FloatVector m3 = GAIN ? n3.mul(FloatVector.fromArray(Y, gain, c + 3 * FLOATS)) : n3;
        FloatVector y3 = BIAS ? m3.add(FloatVector.fromArray(Y, bias, c + 3 * FLOATS)) : m3;
        if (HEAP_OUT) {
          y3.intoArray(os, o0 + 3 * FLOATS);
        } else {
          y3.intoMemorySegment(NATIVE, t + 3 * VECTOR, ORDER);
        }
      }
    }
    a0.intoArray(lanes, l + 0 * APART);
    a1.intoArray(lanes, l + 1 * APART);
    a2.intoArray(lanes, l + 2 * APART);
    a3.intoArray(lanes, l + 3 * APART);
    if (EIGHT) {
      a4.intoArray(lanes, l + 4 * APART);
      a5.intoArray(lanes, l + 5 * APART);
      a6.intoArray(lanes, l + 6 * APART);
      a7.intoArray(lanes, l + 7 * APART);
    }
  }

  /** The same for differences from the row's shift and for their squares. */
  private static void moments(
      Rectangle x,
      Rectangle residual,
      int r,
      int from,
      int n,
      int sweep,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    double[] sums = work.laneSums;
    double[] squares = work.laneSquares;
    int strip = sweep * D.length();
    float[] xs = HEAP ? (float[]) x.base : null;
    float[] hs = HEAP && RESIDUAL ? (float[]) residual.base : null;
    float[] is = HEAP ? (float[]) in.base : null;
    float[] os = HEAP_OUT ? (float[]) out.base : null;
    long xOffset = x.offset + r * x.stride + 4L * (from + strip);
    long hOffset = RESIDUAL ? residual.offset + r * residual.stride + 4L * (from + strip) : 0;
    // The sweep's share of the row that is written.
    int column = from + n / SWEEPS * sweep;
    long inOffset = in.offset + r * in.stride + 4L * column;
    long outOffset = out.offset + r * out.stride + 4L * column;
    int xStart = (int) (xOffset >> 2);
    int hStart = (int) (hOffset >> 2);
    int inStart = (int) (inOffset >> 2);
    int outStart = (int) (outOffset >> 2);
    long xFrom = xOffset & Memory.ADDRESSES;
    long hFrom = hOffset & Memory.ADDRESSES;
    long inFrom = inOffset & Memory.ADDRESSES;
    long outFrom = outOffset & Memory.ADDRESSES;
    float mean = (float) work.mean[r];
    FloatVector hi = FloatVector.broadcast(Y, mean);
    FloatVector lo = FloatVector.broadcast(Y, (float) (work.mean[r] - mean));
    FloatVector by = FloatVector.broadcast(Y, (float) (DIVIDED ? work.root[r] : work.rstd[r]));
    int l = r * LANES + strip;
    DoubleVector shift = DoubleVector.broadcast(D, work.shift[r]);
    DoubleVector s0 = DoubleVector.zero(D);
    DoubleVector s1 = s0;
    DoubleVector s2 = s0;
    DoubleVector s3 = s0;
    DoubleVector q0 = s0;
    DoubleVector q1 = s0;
    DoubleVector q2 = s0;
    DoubleVector q3 = s0;
    for (int i = 0; i < n; i += LANES) {
      int j = i / SWEEPS;
      int at = xStart + i;
      long p = xFrom + 4L * i;
      int to = hStart + i;
      long h = hFrom + 4L * i;
      int i0 = inStart + j;
      long f = inFrom + 4L * j;
      int o0 = outStart + j;
      long t = outFrom + 4L * j;
      int c = column + j;
      FloatVector f0 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 0 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER);
      if (RESIDUAL) {
        f0 =
            f0.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 0 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, h + 0 * STEP, ORDER));
        if (HEAP) {
          f0.intoArray(hs, to + 0 * APART);
        } else {
          f0.intoMemorySegment(NATIVE, h + 0 * STEP, ORDER);
        }
      }
      DoubleVector v0 = (DoubleVector) f0.castShape(D, 0);
      DoubleVector w0 = v0.sub(shift);
      s0 = s0.add(w0);
      q0 = q0.add(w0.mul(w0));
      FloatVector f1 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 1 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER);
      if (RESIDUAL) {
        f1 =
            f1.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 1 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, h + 1 * STEP, ORDER));
        if (HEAP) {
          f1.intoArray(hs, to + 1 * APART);
        } else {
          f1.intoMemorySegment(NATIVE, h + 1 * STEP, ORDER);
        }
      }
      DoubleVector v1 = (DoubleVector) f1.castShape(D, 0);
      DoubleVector w1 = v1.sub(shift);
      s1 = s1.add(w1);
      q1 = q1.add(w1.mul(w1));
      FloatVector f2 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 2 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER);
      if (RESIDUAL) {
        f2 =
            f2.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 2 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, h + 2 * STEP, ORDER));
        if (HEAP) {
          f2.intoArray(hs, to + 2 * APART);
        } else {
          f2.intoMemorySegment(NATIVE, h + 2 * STEP, ORDER);
        }
      }
      DoubleVector v2 = (DoubleVector) f2.castShape(D, 0);
      DoubleVector w2 = v2.sub(shift);
      s2 = s2.add(w2);
      q2 = q2.add(w2.mul(w2));
      FloatVector f3 =
          HEAP
              ? FloatVector.fromArray(F, xs, at + 3 * APART)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER);
      if (RESIDUAL) {
        f3 =
            f3.add(
                HEAP
                    ? FloatVector.fromArray(F, hs, to + 3 * APART)
                    : FloatVector.fromMemorySegment(F, NATIVE, h + 3 * STEP, ORDER));
        if (HEAP) {
          f3.intoArray(hs, to + 3 * APART);
        } else {
          f3.intoMemorySegment(NATIVE, h + 3 * STEP, ORDER);
        }
      }
      DoubleVector v3 = (DoubleVector) f3.castShape(D, 0);
      DoubleVector w3 = v3.sub(shift);
      s3 = s3.add(w3);
      q3 = q3.add(w3.mul(w3));
      FloatVector x0 =
          HEAP
              ? FloatVector.fromArray(Y, is, i0 + 0 * FLOATS)
              : FloatVector.fromMemorySegment(Y, NATIVE, f + 0 * VECTOR, ORDER);
      FloatVector d0 = CENTRED ? x0.sub(hi).sub(lo) : x0;
      FloatVector n0 = DIVIDED ? d0.div(by) : d0.mul(by);
      FloatVector m0 = GAIN ? n0.mul(FloatVector.fromArray(Y, gain, c + 0 * FLOATS)) : n0;
      FloatVector y0 = BIAS ? m0.add(FloatVector.fromArray(Y, bias, c + 0 * FLOATS)) : m0;
      if (HEAP_OUT) {
        y0.intoArray(os, o0 + 0 * FLOATS);
      } else {
        y0.intoMemorySegment(NATIVE, t + 0 * VECTOR, ORDER);
      }
      FloatVector x1 =
          HEAP
              ? FloatVector.fromArray(Y, is, i0 + 1 * FLOATS)
              : FloatVector.fromMemorySegment(Y, NATIVE, f + 1 * VECTOR, ORDER);
      FloatVector d1 = CENTRED ? x1.sub(hi).sub(lo) : x1;
      FloatVector n1 = DIVIDED ? d1.div(by) : d1.mul(by);
      FloatVector m1 = GAIN ? n1.mul(FloatVector.fromArray(Y, gain, c + 1 * FLOATS)) : n1;
      FloatVector y1 = BIAS ? m1.add(FloatVector.fromArray(Y, bias, c + 1 * FLOATS)) : m1;
      if (HEAP_OUT) {
        y1.intoArray(os, o0 + 1 * FLOATS);
      } else {
        y1.intoMemorySegment(NATIVE, t + 1 * VECTOR, ORDER);
      }
    }
    s0.intoArray(sums, l + 0 * APART);
    q0.intoArray(squares, l + 0 * APART);
    s1.intoArray(sums, l + 1 * APART);
    q1.intoArray(squares, l + 1 * APART);
    s2.intoArray(sums, l + 2 * APART);
    q2.intoArray(squares, l + 2 * APART);
    s3.intoArray(sums, l + 3 * APART);
    q3.intoArray(squares, l + 3 * APART);
  }
}
