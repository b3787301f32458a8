package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Row sums of a backward pass, of float32 rows that are narrow and of whole lanes: the lanes and
 * the tree of {@link VectorNarrow} with the terms of {@link VectorGradientSum}.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorNarrowGradientSum {
  private static final GradientSumKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientSumKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean HEAP_X = SPEC.x() == Memory.HEAP;
  private static final boolean HEAP_DY = SPEC.dy() == Memory.HEAP;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  /** A constant, so that the JIT leaves no loop over a row's elements. */
  private static final int WIDTH = SPEC.lanes();

  private static final int LANES = RowSum.LANES;
  private static final int VECTOR = D.length();
  private static final long STEP = 4L * VECTOR;

  /** Whether the lanes are eight vectors, and not four. */
  private static final boolean EIGHT = LANES / VECTOR == 8;

  private static final MemorySegment NATIVE = HEAP_X && HEAP_DY ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorNarrowGradientSum() {}

  /** Of whole rows, which are narrow: the first column is 0, and a bias has no part in it. */
  static void rows(
      Rectangle x,
      Rectangle dy,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    if (CENTRED) {
      both(x, dy, rows, (float[]) gain, work);
      RowSum.trees(work.laneSums, VECTOR, rows, work.sums);
    } else {
      products(x, dy, rows, (float[]) gain, work);
    }
    RowSum.trees(work.laneSquares, VECTOR, rows, work.squares);
  }

  /** Of each row the sum of products, as one vector of partial sums. */
  private static void products(Rectangle x, Rectangle dy, int rows, float[] gain, Workspace work) {
    double[] lanes = work.laneSquares;
    float[] xs = HEAP_X ? (float[]) x.base : null;
    float[] ys = HEAP_DY ? (float[]) dy.base : null;
    double[] rstd = work.rstd;
    long stride = x.stride;
    long slopes = dy.stride;
    long offset = x.offset - stride;
    long slope = dy.offset - slopes;
    for (int r = 0; r < rows; r++) {
      offset += stride;
      slope += slopes;
      int start = (int) (offset >> 2);
      int slopeStart = (int) (slope >> 2);
      long from = offset & Memory.ADDRESSES;
      long slopeFrom = slope & Memory.ADDRESSES;
      FloatVector by = FloatVector.broadcast(F, (float) rstd[r]);
      DoubleVector a0 = DoubleVector.zero(D);
      DoubleVector a1 = a0;
      DoubleVector a2 = a0;
      DoubleVector a3 = a0;
      DoubleVector a4 = a0;
      DoubleVector a5 = a0;
      DoubleVector a6 = a0;
      DoubleVector a7 = a0;
      for (int i = 0; i < WIDTH; i += LANES) {
        int xAt = start + i;
        int yAt = slopeStart + i;
        long p = from + 4L * i;
        long q = slopeFrom + 4L * i;
        FloatVector x0 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 0 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER));
        FloatVector y0 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 0 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 0 * STEP, ORDER));
        FloatVector h0 = GAIN ? y0.mul(FloatVector.fromArray(F, gain, i + 0 * VECTOR)) : y0;
        a0 = a0.add((DoubleVector) h0.mul(x0.mul(by)).castShape(D, 0));
        FloatVector x1 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 1 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER));
        FloatVector y1 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 1 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 1 * STEP, ORDER));
        FloatVector h1 = GAIN ? y1.mul(FloatVector.fromArray(F, gain, i + 1 * VECTOR)) : y1;
        a1 = a1.add((DoubleVector) h1.mul(x1.mul(by)).castShape(D, 0));
        FloatVector x2 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 2 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER));
        FloatVector y2 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 2 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER));
        FloatVector h2 = GAIN ? y2.mul(FloatVector.fromArray(F, gain, i + 2 * VECTOR)) : y2;
        a2 = a2.add((DoubleVector) h2.mul(x2.mul(by)).castShape(D, 0));
        FloatVector x3 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 3 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER));
        FloatVector y3 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 3 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER));
        FloatVector h3 = GAIN ? y3.mul(FloatVector.fromArray(F, gain, i + 3 * VECTOR)) : y3;
        a3 = a3.add((DoubleVector) h3.mul(x3.mul(by)).castShape(D, 0));

        if (EIGHT) {
          FloatVector x4 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 4 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 4 * STEP, ORDER));
          FloatVector y4 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 4 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 4 * STEP, ORDER));
          FloatVector h4 = GAIN ? y4.mul(FloatVector.fromArray(F, gain, i + 4 * VECTOR)) : y4;
          a4 = a4.add((DoubleVector) h4.mul(x4.mul(by)).castShape(D, 0));
          FloatVector x5 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 5 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 5 * STEP, ORDER));
          FloatVector y5 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 5 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 5 * STEP, ORDER));
          FloatVector h5 = GAIN ? y5.mul(FloatVector.fromArray(F, gain, i + 5 * VECTOR)) : y5;
          a5 = a5.add((DoubleVector) h5.mul(x5.mul(by)).castShape(D, 0));
          FloatVector x6 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 6 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 6 * STEP, ORDER));
          FloatVector y6 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 6 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 6 * STEP, ORDER));
          FloatVector h6 = GAIN ? y6.mul(FloatVector.fromArray(F, gain, i + 6 * VECTOR)) : y6;
          a6 = a6.add((DoubleVector) h6.mul(x6.mul(by)).castShape(D, 0));
          FloatVector x7 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 7 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 7 * STEP, ORDER));
          FloatVector y7 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 7 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 7 * STEP, ORDER));
          FloatVector h7 = GAIN ? y7.mul(FloatVector.fromArray(F, gain, i + 7 * VECTOR)) : y7;
          a7 = a7.add((DoubleVector) h7.mul(x7.mul(by)).castShape(D, 0));
        }
      }
      DoubleVector e0 = EIGHT ? a0.add(a4) : a0;
      DoubleVector e1 = EIGHT ? a1.add(a5) : a1;
      DoubleVector e2 = EIGHT ? a2.add(a6) : a2;
      DoubleVector e3 = EIGHT ? a3.add(a7) : a3;
      e0.add(e2).add(e1.add(e3)).intoArray(lanes, r * LANES);
    }
  }

  /** The same of the centred row's products, and of the gradients. */
  private static void both(Rectangle x, Rectangle dy, int rows, float[] gain, Workspace work) {
    double[] sums = work.laneSums;
    double[] lanes = work.laneSquares;
    double[] means = work.mean;
    float[] xs = HEAP_X ? (float[]) x.base : null;
    float[] ys = HEAP_DY ? (float[]) dy.base : null;
    double[] rstd = work.rstd;
    long stride = x.stride;
    long slopes = dy.stride;
    long offset = x.offset - stride;
    long slope = dy.offset - slopes;
    for (int r = 0; r < rows; r++) {
      offset += stride;
      slope += slopes;
      int start = (int) (offset >> 2);
      int slopeStart = (int) (slope >> 2);
      long from = offset & Memory.ADDRESSES;
      long slopeFrom = slope & Memory.ADDRESSES;
      FloatVector by = FloatVector.broadcast(F, (float) rstd[r]);

      float mean = (float) means[r];
      FloatVector hi = FloatVector.broadcast(F, mean);
      FloatVector lo = FloatVector.broadcast(F, (float) (means[r] - mean));
      DoubleVector a0 = DoubleVector.zero(D);
      DoubleVector a1 = a0;
      DoubleVector a2 = a0;
      DoubleVector a3 = a0;
      DoubleVector b0 = a0;
      DoubleVector b1 = b0;
      DoubleVector b2 = b0;
      DoubleVector b3 = b0;
      for (int i = 0; i < WIDTH; i += LANES) {
        int xAt = start + i;
        int yAt = slopeStart + i;
        long p = from + 4L * i;
        long q = slopeFrom + 4L * i;
        FloatVector x0 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 0 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER));
        FloatVector y0 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 0 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 0 * STEP, ORDER));
        FloatVector h0 = GAIN ? y0.mul(FloatVector.fromArray(F, gain, i + 0 * VECTOR)) : y0;
        FloatVector d0 = x0.sub(hi).sub(lo).mul(by);
        a0 = a0.add((DoubleVector) h0.mul(d0).castShape(D, 0));
        b0 = b0.add((DoubleVector) h0.castShape(D, 0));
        FloatVector x1 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 1 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER));
        FloatVector y1 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 1 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 1 * STEP, ORDER));
        FloatVector h1 = GAIN ? y1.mul(FloatVector.fromArray(F, gain, i + 1 * VECTOR)) : y1;
        FloatVector d1 = x1.sub(hi).sub(lo).mul(by);
        a1 = a1.add((DoubleVector) h1.mul(d1).castShape(D, 0));
        b1 = b1.add((DoubleVector) h1.castShape(D, 0));
        FloatVector x2 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 2 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER));
        FloatVector y2 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 2 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER));
        FloatVector h2 = GAIN ? y2.mul(FloatVector.fromArray(F, gain, i + 2 * VECTOR)) : y2;
        FloatVector d2 = x2.sub(hi).sub(lo).mul(by);
        a2 = a2.add((DoubleVector) h2.mul(d2).castShape(D, 0));
        b2 = b2.add((DoubleVector) h2.castShape(D, 0));
        FloatVector x3 =
            (HEAP_X
                ? FloatVector.fromArray(F, xs, xAt + 3 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER));
        FloatVector y3 =
            (HEAP_DY
                ? FloatVector.fromArray(F, ys, yAt + 3 * VECTOR)
                : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER));
        FloatVector h3 = GAIN ? y3.mul(FloatVector.fromArray(F, gain, i + 3 * VECTOR)) : y3;
        FloatVector d3 = x3.sub(hi).sub(lo).mul(by);
        a3 = a3.add((DoubleVector) h3.mul(d3).castShape(D, 0));
        b3 = b3.add((DoubleVector) h3.castShape(D, 0));
      }
      if (EIGHT) {
        // The other lanes, from the middle of every 32 elements on.
        DoubleVector s0 = DoubleVector.zero(D);
        DoubleVector s1 = s0;
        DoubleVector s2 = s0;
        DoubleVector s3 = s0;
        DoubleVector t0 = s0;
        DoubleVector t1 = t0;
        DoubleVector t2 = t0;
        DoubleVector t3 = t0;
        for (int i = LANES / 2; i < WIDTH; i += LANES) {
          int xAt = start + i;
          int yAt = slopeStart + i;
          long p = from + 4L * i;
          long q = slopeFrom + 4L * i;
          FloatVector x0 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 0 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * STEP, ORDER));
          FloatVector y0 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 0 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 0 * STEP, ORDER));
          FloatVector h0 = GAIN ? y0.mul(FloatVector.fromArray(F, gain, i + 0 * VECTOR)) : y0;
          FloatVector d0 = x0.sub(hi).sub(lo).mul(by);
          s0 = s0.add((DoubleVector) h0.mul(d0).castShape(D, 0));
          t0 = t0.add((DoubleVector) h0.castShape(D, 0));
          FloatVector x1 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 1 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * STEP, ORDER));
          FloatVector y1 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 1 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 1 * STEP, ORDER));
          FloatVector h1 = GAIN ? y1.mul(FloatVector.fromArray(F, gain, i + 1 * VECTOR)) : y1;
          FloatVector d1 = x1.sub(hi).sub(lo).mul(by);
          s1 = s1.add((DoubleVector) h1.mul(d1).castShape(D, 0));
          t1 = t1.add((DoubleVector) h1.castShape(D, 0));
          FloatVector x2 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 2 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * STEP, ORDER));
          FloatVector y2 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 2 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 2 * STEP, ORDER));
          FloatVector h2 = GAIN ? y2.mul(FloatVector.fromArray(F, gain, i + 2 * VECTOR)) : y2;
          FloatVector d2 = x2.sub(hi).sub(lo).mul(by);
          s2 = s2.add((DoubleVector) h2.mul(d2).castShape(D, 0));
          t2 = t2.add((DoubleVector) h2.castShape(D, 0));
          FloatVector x3 =
              (HEAP_X
                  ? FloatVector.fromArray(F, xs, xAt + 3 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * STEP, ORDER));
          FloatVector y3 =
              (HEAP_DY
                  ? FloatVector.fromArray(F, ys, yAt + 3 * VECTOR)
                  : FloatVector.fromMemorySegment(F, NATIVE, q + 3 * STEP, ORDER));
          FloatVector h3 = GAIN ? y3.mul(FloatVector.fromArray(F, gain, i + 3 * VECTOR)) : y3;
          FloatVector d3 = x3.sub(hi).sub(lo).mul(by);
          s3 = s3.add((DoubleVector) h3.mul(d3).castShape(D, 0));
          t3 = t3.add((DoubleVector) h3.castShape(D, 0));
        }
        a0 = a0.add(s0);
        b0 = b0.add(t0);
        a1 = a1.add(s1);
        b1 = b1.add(t1);
        a2 = a2.add(s2);
        b2 = b2.add(t2);
        a3 = a3.add(s3);
        b3 = b3.add(t3);
      }
      a0.add(a2).add(a1.add(a3)).intoArray(lanes, r * LANES);
      b0.add(b2).add(b1.add(b3)).intoArray(sums, r * LANES);
    }
  }
}
