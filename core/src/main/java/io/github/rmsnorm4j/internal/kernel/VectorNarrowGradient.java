package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Gradients of float32 rows that are narrow, bit for bit those of {@link ScalarGradient}: two
 * vectors' columns of all rows, with their gain and their share of the parameters' gradients in
 * registers.
 *
 * <p>Loops call nothing of ours, see {@link VectorOutput}.
 */
final class VectorNarrowGradient {
  private static final GradientKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean HEAP_X = SPEC.x() == Memory.HEAP;
  private static final boolean HEAP_DY = SPEC.dy() == Memory.HEAP;

  private static final boolean RESIDUAL = SPEC.residual();
  private static final boolean GAIN_GRADIENT = SPEC.gainGradient();
  private static final boolean BIAS_GRADIENT = SPEC.biasGradient();
  private static final boolean HEAP_DX = SPEC.dx() == Memory.HEAP;
  private static final boolean HEAP_RESIDUAL = SPEC.residualMemory() == Memory.HEAP;

  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits()));
  private static final int FLOATS = F.length();
  private static final long VECTOR = 4L * FLOATS;
  private static final MemorySegment NATIVE =
      HEAP_X && HEAP_DY && HEAP_DX && HEAP_RESIDUAL ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private static final int ROWS = Workspace.MAX_ROWS;

  private VectorNarrowGradient() {}

  /** Columns are a multiple of two vectors. A bias has no part in it. */
  static void rows(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Object dgain,
      Object dbias,
      Workspace work) {
    float[] statistics = work.statistics;
    for (int r = 0; r < rows; r++) {
      float hi = (float) work.mean[r];
      statistics[r] = (float) work.rstd[r];
      statistics[r + ROWS] = (float) work.meanProduct[r];
      statistics[r + 2 * ROWS] = hi;
      statistics[r + 3 * ROWS] = (float) (work.mean[r] - hi);
      statistics[r + 4 * ROWS] = (float) work.meanGradient[r];
    }
    for (int i = 0; i < columns; i += 2 * FLOATS) {
      strip(
          x,
          dy,
          dx,
          residual,
          rows,
          i,
          column + i,
          (float[]) gain,
          (float[]) dgain,
          (float[]) dbias,
          statistics);
    }
  }

  private static void strip(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int rows,
      int i,
      int column,
      float[] gain,
      float[] dgain,
      float[] dbias,
      float[] statistics) {
    float[] xs = HEAP_X ? (float[]) x.base : null;
    float[] ys = HEAP_DY ? (float[]) dy.base : null;
    float[] ds = HEAP_DX ? (float[]) dx.base : null;
    float[] es = RESIDUAL && HEAP_RESIDUAL ? (float[]) residual.base : null;
    long xStride = x.stride;
    long yStride = dy.stride;
    long dStride = dx.stride;
    long eStride = RESIDUAL ? residual.stride : 0;
    long xOffset = x.offset + 4L * i;
    long yOffset = dy.offset + 4L * i;
    long dOffset = dx.offset + 4L * i;
    long eOffset = RESIDUAL ? residual.offset + 4L * i : 0;
    FloatVector none = FloatVector.zero(F);
    FloatVector g0 = GAIN ? FloatVector.fromArray(F, gain, column) : none;
    FloatVector g1 = GAIN ? FloatVector.fromArray(F, gain, column + FLOATS) : none;
    FloatVector s0 = GAIN_GRADIENT ? FloatVector.fromArray(F, dgain, column) : none;
    FloatVector s1 = GAIN_GRADIENT ? FloatVector.fromArray(F, dgain, column + FLOATS) : none;
    FloatVector b0 = BIAS_GRADIENT ? FloatVector.fromArray(F, dbias, column) : none;
    FloatVector b1 = BIAS_GRADIENT ? FloatVector.fromArray(F, dbias, column + FLOATS) : none;
    for (int r = 0; r < rows; r++) {
      int xAt = (int) (xOffset >> 2);
      int yAt = (int) (yOffset >> 2);
      int dAt = (int) (dOffset >> 2);
      int eAt = (int) (eOffset >> 2);
      long p = xOffset & Memory.ADDRESSES;
      long q = yOffset & Memory.ADDRESSES;
      long t = dOffset & Memory.ADDRESSES;
      long u = eOffset & Memory.ADDRESSES;
      FloatVector by = FloatVector.broadcast(F, statistics[r]);
      FloatVector product = FloatVector.broadcast(F, statistics[r + ROWS]);
      FloatVector hi = CENTRED ? FloatVector.broadcast(F, statistics[r + 2 * ROWS]) : null;
      FloatVector lo = CENTRED ? FloatVector.broadcast(F, statistics[r + 3 * ROWS]) : null;
      FloatVector gradient = CENTRED ? FloatVector.broadcast(F, statistics[r + 4 * ROWS]) : null;
      FloatVector x0 =
          (HEAP_X
              ? FloatVector.fromArray(F, xs, xAt + 0 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 0 * VECTOR, ORDER));
      FloatVector y0 =
          (HEAP_DY
              ? FloatVector.fromArray(F, ys, yAt + 0 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, q + 0 * VECTOR, ORDER));
      FloatVector v0 = (CENTRED ? x0.sub(hi).sub(lo) : x0).mul(by);
      FloatVector h0 = GAIN ? y0.mul(g0) : y0;
      FloatVector w0 = (CENTRED ? h0.sub(gradient) : h0).sub(v0.mul(product)).mul(by);
      FloatVector e0 =
          RESIDUAL
              ? w0.add(
                  (HEAP_RESIDUAL
                      ? FloatVector.fromArray(F, es, eAt + 0 * FLOATS)
                      : FloatVector.fromMemorySegment(F, NATIVE, u + 0 * VECTOR, ORDER)))
              : w0;
      if (HEAP_DX) {
        e0.intoArray(ds, dAt + 0 * FLOATS);
      } else {
        e0.intoMemorySegment(NATIVE, t + 0 * VECTOR, ORDER);
      }
      if (GAIN_GRADIENT) {
        s0 = s0.add(y0.mul(v0));
      }
      if (BIAS_GRADIENT) {
        b0 = b0.add(y0);
      }
      FloatVector x1 =
          (HEAP_X
              ? FloatVector.fromArray(F, xs, xAt + 1 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 1 * VECTOR, ORDER));
      FloatVector y1 =
          (HEAP_DY
              ? FloatVector.fromArray(F, ys, yAt + 1 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, q + 1 * VECTOR, ORDER));
      FloatVector v1 = (CENTRED ? x1.sub(hi).sub(lo) : x1).mul(by);
      FloatVector h1 = GAIN ? y1.mul(g1) : y1;
      FloatVector w1 = (CENTRED ? h1.sub(gradient) : h1).sub(v1.mul(product)).mul(by);
      FloatVector e1 =
          RESIDUAL
              ? w1.add(
                  (HEAP_RESIDUAL
                      ? FloatVector.fromArray(F, es, eAt + 1 * FLOATS)
                      : FloatVector.fromMemorySegment(F, NATIVE, u + 1 * VECTOR, ORDER)))
              : w1;
      if (HEAP_DX) {
        e1.intoArray(ds, dAt + 1 * FLOATS);
      } else {
        e1.intoMemorySegment(NATIVE, t + 1 * VECTOR, ORDER);
      }
      if (GAIN_GRADIENT) {
        s1 = s1.add(y1.mul(v1));
      }
      if (BIAS_GRADIENT) {
        b1 = b1.add(y1);
      }

      xOffset += xStride;
      yOffset += yStride;
      dOffset += dStride;
      eOffset += eStride;
    }
    if (GAIN_GRADIENT) {
      s0.intoArray(dgain, column);
      s1.intoArray(dgain, column + FLOATS);
    }
    if (BIAS_GRADIENT) {
      b0.intoArray(dbias, column);
      b1.intoArray(dbias, column + FLOATS);
    }
  }
}
