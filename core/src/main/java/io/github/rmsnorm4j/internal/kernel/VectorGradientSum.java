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
 * Row sums of a backward pass in float32 with the Vector API, bit for bit those of {@link
 * ScalarGradientSum}: the strips of {@link VectorStatistic} with the terms of a gradient.
 */
final class VectorGradientSum {
  private static final GradientSumKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientSumKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean FROM_OUTPUT = SPEC.fromOutput();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();
  private static final boolean HEAP_X = SPEC.x() == Memory.HEAP;
  private static final boolean HEAP_DY = SPEC.dy() == Memory.HEAP;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  private static final int LANES = RowSum.LANES;
  private static final int BLOCK = RowSum.BLOCK;
  private static final int VECTOR = D.length();

  /** Whether a strip is eight vectors, and not four. */
  private static final boolean EIGHT = !CENTRED && VECTOR < 8;

  private static final int STRIP = (EIGHT ? 8 : 4) * VECTOR;
  private static final int STEP = Float.BYTES * VECTOR;
  private static final MemorySegment NATIVE = HEAP_X && HEAP_DY ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorGradientSum() {}

  static void rows(
      Rectangle x,
      Rectangle dy,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    boolean oneBlock = columns <= BLOCK;
    for (int r = 0; r < rows; r++) {
      if (oneBlock) {
        block(x, dy, r, 0, column, columns, gain, bias, work);
      } else {
        lanes(x, dy, r, column, columns, gain, bias, work);
      }
      work.squares[r] = RowSum.tree(oneBlock ? work.laneSquares : work.totalSquares, 0);
      work.sums[r] = CENTRED ? RowSum.tree(oneBlock ? work.laneSums : work.totalSums, 0) : 0.0;
    }
  }

  static void superBlock(
      Rectangle x,
      Rectangle dy,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    lanes(x, dy, 0, column, columns, gain, bias, work);
    addLanes(work.rowSquares, work.totalSquares);
    if (CENTRED) {
      addLanes(work.rowSums, work.totalSums);
    }
  }

  /** The lanes of one super-block or less, first in the totals. */
  private static void lanes(
      Rectangle x,
      Rectangle dy,
      int r,
      int column,
      int n,
      Object gain,
      Object bias,
      Workspace work) {
    Arrays.fill(work.totalSquares, 0, LANES, 0.0);
    Arrays.fill(work.totalSums, 0, LANES, 0.0);
    for (int i = 0; i < n; i += BLOCK) {
      block(x, dy, r, i, column, Math.min(n, i + BLOCK), gain, bias, work);
      addLanes(work.totalSquares, work.laneSquares);
      if (CENTRED) {
        addLanes(work.totalSums, work.laneSums);
      }
    }
  }

  /** The lanes of one block or less: strip by strip, in the first-level cache. */
  private static void block(
      Rectangle x,
      Rectangle dy,
      int r,
      int start,
      int column,
      int end,
      Object gain,
      Object bias,
      Workspace work) {
    int whole = (end - start) - (end - start) % LANES;
    for (int s = 0; s < LANES; s += STRIP) {
      long skip = (long) Float.BYTES * (start + s);
      strip(
          x.base,
          x.offset + r * x.stride + skip,
          dy.base,
          dy.offset + r * dy.stride + skip,
          whole,
          s,
          column + start + s,
          (float[]) gain,
          (float[]) bias,
          work.mean[r],
          (float) work.rstd[r],
          work);
    }
    for (int i = start + whole; i < end; i++) {
      int j = i % LANES;
      work.laneSquares[j] += GradientTerm.product(SPEC, x, dy, r, i, column, gain, bias, work);
      if (CENTRED) {
        work.laneSums[j] += GradientTerm.gradient(SPEC, dy, r, i, column, gain);
      }
    }
  }

  private static void addLanes(double[] into, double[] lanes) {
    for (int j = 0; j < LANES; j++) {
      into[j] += lanes[j];
    }
  }

  /**
   * A strip of a block's lanes: of eight vectors the products, or of four those and the gradients.
   */
  private static void strip(
      Object x,
      long xOffset,
      Object dy,
      long dyOffset,
      int n,
      int strip,
      int column,
      float[] gain,
      float[] bias,
      double mean,
      float rstd,
      Workspace work) {
    int start = (int) (xOffset >> 2);
    int slope = (int) (dyOffset >> 2);
    long from = xOffset & Memory.ADDRESSES;
    long slopes = dyOffset & Memory.ADDRESSES;
    FloatVector hi = FloatVector.broadcast(F, (float) mean);
    FloatVector lo = FloatVector.broadcast(F, (float) (mean - (float) mean));
    FloatVector by = FloatVector.broadcast(F, rstd);
    DoubleVector a0 = DoubleVector.zero(D);
    DoubleVector a1 = a0;
    DoubleVector a2 = a0;
    DoubleVector a3 = a0;
    DoubleVector a4 = a0;
    DoubleVector a5 = a0;
    DoubleVector a6 = a0;
    DoubleVector a7 = a0;
    DoubleVector b0 = a0;
    DoubleVector b1 = a0;
    DoubleVector b2 = a0;
    DoubleVector b3 = a0;
    for (int i = 0; i < n; i += LANES) {
      long p = from + 4L * i;
      long q = slopes + 4L * i;
      int c = column + i;
      FloatVector x0 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) x, start + i)
              : FloatVector.fromMemorySegment(F, NATIVE, p, ORDER);
      FloatVector y0 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dy, slope + i)
              : FloatVector.fromMemorySegment(F, NATIVE, q, ORDER);
      FloatVector h0 = GAIN ? y0.mul(FloatVector.fromArray(F, gain, c)) : y0;
      FloatVector d0 =
          FROM_OUTPUT
              ? BIAS ? x0.sub(FloatVector.fromArray(F, bias, c)) : x0
              : (CENTRED ? x0.sub(hi).sub(lo) : x0).mul(by);
      FloatVector m0 = (FROM_OUTPUT ? y0 : h0).mul(d0);
      a0 = a0.add((DoubleVector) m0.castShape(D, 0));
      if (CENTRED) {
        b0 = b0.add((DoubleVector) h0.castShape(D, 0));
      }
      FloatVector x1 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) x, start + i + VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, p + STEP, ORDER);
      FloatVector y1 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dy, slope + i + VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, q + STEP, ORDER);
      FloatVector h1 = GAIN ? y1.mul(FloatVector.fromArray(F, gain, c + VECTOR)) : y1;
      FloatVector d1 =
          FROM_OUTPUT
              ? BIAS ? x1.sub(FloatVector.fromArray(F, bias, c + VECTOR)) : x1
              : (CENTRED ? x1.sub(hi).sub(lo) : x1).mul(by);
      FloatVector m1 = (FROM_OUTPUT ? y1 : h1).mul(d1);
      a1 = a1.add((DoubleVector) m1.castShape(D, 0));
      if (CENTRED) {
        b1 = b1.add((DoubleVector) h1.castShape(D, 0));
      }
      FloatVector x2 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) x, start + i + 2 * VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER);
      FloatVector y2 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dy, slope + i + 2 * VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER);
      FloatVector h2 = GAIN ? y2.mul(FloatVector.fromArray(F, gain, c + 2 * VECTOR)) : y2;
      FloatVector d2 =
          FROM_OUTPUT
              ? BIAS ? x2.sub(FloatVector.fromArray(F, bias, c + 2 * VECTOR)) : x2
              : (CENTRED ? x2.sub(hi).sub(lo) : x2).mul(by);
      FloatVector m2 = (FROM_OUTPUT ? y2 : h2).mul(d2);
      a2 = a2.add((DoubleVector) m2.castShape(D, 0));
      if (CENTRED) {
        b2 = b2.add((DoubleVector) h2.castShape(D, 0));
      }
      FloatVector x3 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) x, start + i + 3 * VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER);
      FloatVector y3 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dy, slope + i + 3 * VECTOR)
              : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER);
      FloatVector h3 = GAIN ? y3.mul(FloatVector.fromArray(F, gain, c + 3 * VECTOR)) : y3;
      FloatVector d3 =
          FROM_OUTPUT
              ? BIAS ? x3.sub(FloatVector.fromArray(F, bias, c + 3 * VECTOR)) : x3
              : (CENTRED ? x3.sub(hi).sub(lo) : x3).mul(by);
      FloatVector m3 = (FROM_OUTPUT ? y3 : h3).mul(d3);
      a3 = a3.add((DoubleVector) m3.castShape(D, 0));
      if (CENTRED) {
        b3 = b3.add((DoubleVector) h3.castShape(D, 0));
      }
      if (EIGHT) {
        FloatVector x4 =
            HEAP_X
                ? FloatVector.fromArray(F, (float[]) x, start + i + 4 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 4 * STEP, ORDER);
        FloatVector y4 =
            HEAP_DY
                ? FloatVector.fromArray(F, (float[]) dy, slope + i + 4 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 4 * STEP, ORDER);
        FloatVector h4 = GAIN ? y4.mul(FloatVector.fromArray(F, gain, c + 4 * VECTOR)) : y4;
        FloatVector d4 =
            FROM_OUTPUT
                ? BIAS ? x4.sub(FloatVector.fromArray(F, bias, c + 4 * VECTOR)) : x4
                : (CENTRED ? x4.sub(hi).sub(lo) : x4).mul(by);
        FloatVector m4 = (FROM_OUTPUT ? y4 : h4).mul(d4);
        a4 = a4.add((DoubleVector) m4.castShape(D, 0));
        FloatVector x5 =
            HEAP_X
                ? FloatVector.fromArray(F, (float[]) x, start + i + 5 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 5 * STEP, ORDER);
        FloatVector y5 =
            HEAP_DY
                ? FloatVector.fromArray(F, (float[]) dy, slope + i + 5 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 5 * STEP, ORDER);
        FloatVector h5 = GAIN ? y5.mul(FloatVector.fromArray(F, gain, c + 5 * VECTOR)) : y5;
        FloatVector d5 =
            FROM_OUTPUT
                ? BIAS ? x5.sub(FloatVector.fromArray(F, bias, c + 5 * VECTOR)) : x5
                : (CENTRED ? x5.sub(hi).sub(lo) : x5).mul(by);
        FloatVector m5 = (FROM_OUTPUT ? y5 : h5).mul(d5);
        a5 = a5.add((DoubleVector) m5.castShape(D, 0));
        FloatVector x6 =
            HEAP_X
                ? FloatVector.fromArray(F, (float[]) x, start + i + 6 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 6 * STEP, ORDER);
        FloatVector y6 =
            HEAP_DY
                ? FloatVector.fromArray(F, (float[]) dy, slope + i + 6 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 6 * STEP, ORDER);
        FloatVector h6 = GAIN ? y6.mul(FloatVector.fromArray(F, gain, c + 6 * VECTOR)) : y6;
        FloatVector d6 =
            FROM_OUTPUT
                ? BIAS ? x6.sub(FloatVector.fromArray(F, bias, c + 6 * VECTOR)) : x6
                : (CENTRED ? x6.sub(hi).sub(lo) : x6).mul(by);
        FloatVector m6 = (FROM_OUTPUT ? y6 : h6).mul(d6);
        a6 = a6.add((DoubleVector) m6.castShape(D, 0));
        FloatVector x7 =
            HEAP_X
                ? FloatVector.fromArray(F, (float[]) x, start + i + 7 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 7 * STEP, ORDER);
        FloatVector y7 =
            HEAP_DY
                ? FloatVector.fromArray(F, (float[]) dy, slope + i + 7 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 7 * STEP, ORDER);
        FloatVector h7 = GAIN ? y7.mul(FloatVector.fromArray(F, gain, c + 7 * VECTOR)) : y7;
        FloatVector d7 =
            FROM_OUTPUT
                ? BIAS ? x7.sub(FloatVector.fromArray(F, bias, c + 7 * VECTOR)) : x7
                : (CENTRED ? x7.sub(hi).sub(lo) : x7).mul(by);
        FloatVector m7 = (FROM_OUTPUT ? y7 : h7).mul(d7);
        a7 = a7.add((DoubleVector) m7.castShape(D, 0));
      }
    }
    a0.intoArray(work.laneSquares, strip);
    a1.intoArray(work.laneSquares, strip + VECTOR);
    a2.intoArray(work.laneSquares, strip + 2 * VECTOR);
    a3.intoArray(work.laneSquares, strip + 3 * VECTOR);
    if (EIGHT) {
      a4.intoArray(work.laneSquares, strip + 4 * VECTOR);
      a5.intoArray(work.laneSquares, strip + 5 * VECTOR);
      a6.intoArray(work.laneSquares, strip + 6 * VECTOR);
      a7.intoArray(work.laneSquares, strip + 7 * VECTOR);
    }
    if (CENTRED) {
      b0.intoArray(work.laneSums, strip);
      b1.intoArray(work.laneSums, strip + VECTOR);
      b2.intoArray(work.laneSums, strip + 2 * VECTOR);
      b3.intoArray(work.laneSums, strip + 3 * VECTOR);
    }
  }
}
