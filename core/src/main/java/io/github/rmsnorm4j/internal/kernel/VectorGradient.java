package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Gradients of float32 rows with the Vector API, bit for bit those of {@link ScalarGradient}.
 *
 * <p>Two rows go through together, so that the parameters' gradients, which are as wide as a row,
 * are read and written half as often. They are added up row after row all the same.
 */
final class VectorGradient {
  private static final GradientKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), GradientKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean FROM_OUTPUT = SPEC.fromOutput();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();
  private static final boolean RESIDUAL = SPEC.residual();
  private static final boolean GAIN_GRADIENT = SPEC.gainGradient();
  private static final boolean BIAS_GRADIENT = SPEC.biasGradient();
  private static final boolean HEAP_X = SPEC.x() == Memory.HEAP;
  private static final boolean HEAP_DY = SPEC.dy() == Memory.HEAP;
  private static final boolean HEAP_DX = SPEC.dx() == Memory.HEAP;
  private static final boolean HEAP_RESIDUAL = SPEC.residualMemory() == Memory.HEAP;

  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits()));
  private static final int FLOATS = F.length();
  private static final MemorySegment NATIVE =
      HEAP_X && HEAP_DY && HEAP_DX && HEAP_RESIDUAL ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorGradient() {}

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
    float[] g = (float[]) gain;
    float[] b = (float[]) bias;
    float[] dg = (float[]) dgain;
    float[] db = (float[]) dbias;
    int whole = F.loopBound(columns);
    int r = 0;
    for (; r + 1 < rows; r += 2) {
      two(x, dy, dx, residual, r, whole, column, g, b, dg, db, work);
    }
    if (r < rows) {
      one(x, dy, dx, residual, r, whole, column, g, b, dg, db, work);
    }
    for (r = 0; r < rows && whole < columns; r++) {
      GradientRow.floats(SPEC, x, dy, dx, residual, r, whole, columns, column, g, b, dg, db, work);
    }
  }

  /** The first n elements of rows r and r + 1. */
  private static void two(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int r,
      int n,
      int column,
      float[] gain,
      float[] bias,
      float[] dgain,
      float[] dbias,
      Workspace work) {
    Object xs = x.base;
    Object dys = dy.base;
    Object dxs = dx.base;
    Object residuals = RESIDUAL ? residual.base : null;
    long xOffset0 = x.offset + r * x.stride;
    long yOffset0 = dy.offset + r * dy.stride;
    long dOffset0 = dx.offset + r * dx.stride;
    long eOffset0 = RESIDUAL ? residual.offset + r * residual.stride : 0;
    long xFrom0 = xOffset0 & Memory.ADDRESSES;
    int xStart0 = (int) (xOffset0 >> 2);
    long yFrom0 = yOffset0 & Memory.ADDRESSES;
    int yStart0 = (int) (yOffset0 >> 2);
    long dFrom0 = dOffset0 & Memory.ADDRESSES;
    int dStart0 = (int) (dOffset0 >> 2);
    long eFrom0 = eOffset0 & Memory.ADDRESSES;
    int eStart0 = (int) (eOffset0 >> 2);
    float mean0 = (float) work.mean[r];
    FloatVector hi0 = FloatVector.broadcast(F, mean0);
    FloatVector lo0 = FloatVector.broadcast(F, (float) (work.mean[r] - mean0));
    FloatVector rstd0 = FloatVector.broadcast(F, (float) work.rstd[r]);
    FloatVector product0 = FloatVector.broadcast(F, (float) work.meanProduct[r]);
    FloatVector gradient0 = FloatVector.broadcast(F, (float) work.meanGradient[r]);
    long xOffset1 = x.offset + (r + 1) * x.stride;
    long yOffset1 = dy.offset + (r + 1) * dy.stride;
    long dOffset1 = dx.offset + (r + 1) * dx.stride;
    long eOffset1 = RESIDUAL ? residual.offset + (r + 1) * residual.stride : 0;
    long xFrom1 = xOffset1 & Memory.ADDRESSES;
    int xStart1 = (int) (xOffset1 >> 2);
    long yFrom1 = yOffset1 & Memory.ADDRESSES;
    int yStart1 = (int) (yOffset1 >> 2);
    long dFrom1 = dOffset1 & Memory.ADDRESSES;
    int dStart1 = (int) (dOffset1 >> 2);
    long eFrom1 = eOffset1 & Memory.ADDRESSES;
    int eStart1 = (int) (eOffset1 >> 2);
    float mean1 = (float) work.mean[r + 1];
    FloatVector hi1 = FloatVector.broadcast(F, mean1);
    FloatVector lo1 = FloatVector.broadcast(F, (float) (work.mean[r + 1] - mean1));
    FloatVector rstd1 = FloatVector.broadcast(F, (float) work.rstd[r + 1]);
    FloatVector product1 = FloatVector.broadcast(F, (float) work.meanProduct[r + 1]);
    FloatVector gradient1 = FloatVector.broadcast(F, (float) work.meanGradient[r + 1]);
    for (int i = 0; i < n; i += FLOATS) {
      int c = column + i;
      FloatVector g = GAIN ? FloatVector.fromArray(F, gain, c) : null;
      FloatVector b = FROM_OUTPUT && BIAS ? FloatVector.fromArray(F, bias, c) : null;
      FloatVector x0 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) xs, xStart0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, xFrom0 + 4L * i, ORDER);
      FloatVector y0 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dys, yStart0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, yFrom0 + 4L * i, ORDER);
      FloatVector u0 =
          FROM_OUTPUT ? (BIAS ? x0.sub(b) : x0) : (CENTRED ? x0.sub(hi0).sub(lo0) : x0).mul(rstd0);
      FloatVector v0 = FROM_OUTPUT && GAIN ? u0.div(g) : u0;
      FloatVector h0 = GAIN ? y0.mul(g) : y0;
      FloatVector w0 = (CENTRED ? h0.sub(gradient0) : h0).sub(v0.mul(product0)).mul(rstd0);
      FloatVector e0 =
          !RESIDUAL
              ? w0
              : w0.add(
                  HEAP_RESIDUAL
                      ? FloatVector.fromArray(F, (float[]) residuals, eStart0 + i)
                      : FloatVector.fromMemorySegment(F, NATIVE, eFrom0 + 4L * i, ORDER));
      if (HEAP_DX) {
        e0.intoArray((float[]) dxs, dStart0 + i);
      } else {
        e0.intoMemorySegment(NATIVE, dFrom0 + 4L * i, ORDER);
      }
      FloatVector x1 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) xs, xStart1 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, xFrom1 + 4L * i, ORDER);
      FloatVector y1 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dys, yStart1 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, yFrom1 + 4L * i, ORDER);
      FloatVector u1 =
          FROM_OUTPUT ? (BIAS ? x1.sub(b) : x1) : (CENTRED ? x1.sub(hi1).sub(lo1) : x1).mul(rstd1);
      FloatVector v1 = FROM_OUTPUT && GAIN ? u1.div(g) : u1;
      FloatVector h1 = GAIN ? y1.mul(g) : y1;
      FloatVector w1 = (CENTRED ? h1.sub(gradient1) : h1).sub(v1.mul(product1)).mul(rstd1);
      FloatVector e1 =
          !RESIDUAL
              ? w1
              : w1.add(
                  HEAP_RESIDUAL
                      ? FloatVector.fromArray(F, (float[]) residuals, eStart1 + i)
                      : FloatVector.fromMemorySegment(F, NATIVE, eFrom1 + 4L * i, ORDER));
      if (HEAP_DX) {
        e1.intoArray((float[]) dxs, dStart1 + i);
      } else {
        e1.intoMemorySegment(NATIVE, dFrom1 + 4L * i, ORDER);
      }
      if (GAIN_GRADIENT) {
        FloatVector sum = FloatVector.fromArray(F, dgain, c).add(y0.mul(v0)).add(y1.mul(v1));
        sum.intoArray(dgain, c);
      }
      if (BIAS_GRADIENT) {
        FloatVector sum = FloatVector.fromArray(F, dbias, c).add(y0).add(y1);
        sum.intoArray(dbias, c);
      }
    }
  }

  /** The first n elements of row r. */
  private static void one(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int r,
      int n,
      int column,
      float[] gain,
      float[] bias,
      float[] dgain,
      float[] dbias,
      Workspace work) {
    Object xs = x.base;
    Object dys = dy.base;
    Object dxs = dx.base;
    Object residuals = RESIDUAL ? residual.base : null;
    long xOffset0 = x.offset + r * x.stride;
    long yOffset0 = dy.offset + r * dy.stride;
    long dOffset0 = dx.offset + r * dx.stride;
    long eOffset0 = RESIDUAL ? residual.offset + r * residual.stride : 0;
    long xFrom0 = xOffset0 & Memory.ADDRESSES;
    int xStart0 = (int) (xOffset0 >> 2);
    long yFrom0 = yOffset0 & Memory.ADDRESSES;
    int yStart0 = (int) (yOffset0 >> 2);
    long dFrom0 = dOffset0 & Memory.ADDRESSES;
    int dStart0 = (int) (dOffset0 >> 2);
    long eFrom0 = eOffset0 & Memory.ADDRESSES;
    int eStart0 = (int) (eOffset0 >> 2);
    float mean0 = (float) work.mean[r];
    FloatVector hi0 = FloatVector.broadcast(F, mean0);
    FloatVector lo0 = FloatVector.broadcast(F, (float) (work.mean[r] - mean0));
    FloatVector rstd0 = FloatVector.broadcast(F, (float) work.rstd[r]);
    FloatVector product0 = FloatVector.broadcast(F, (float) work.meanProduct[r]);
    FloatVector gradient0 = FloatVector.broadcast(F, (float) work.meanGradient[r]);
    for (int i = 0; i < n; i += FLOATS) {
      int c = column + i;
      FloatVector g = GAIN ? FloatVector.fromArray(F, gain, c) : null;
      FloatVector b = FROM_OUTPUT && BIAS ? FloatVector.fromArray(F, bias, c) : null;
      FloatVector x0 =
          HEAP_X
              ? FloatVector.fromArray(F, (float[]) xs, xStart0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, xFrom0 + 4L * i, ORDER);
      FloatVector y0 =
          HEAP_DY
              ? FloatVector.fromArray(F, (float[]) dys, yStart0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, yFrom0 + 4L * i, ORDER);
      FloatVector u0 =
          FROM_OUTPUT ? (BIAS ? x0.sub(b) : x0) : (CENTRED ? x0.sub(hi0).sub(lo0) : x0).mul(rstd0);
      FloatVector v0 = FROM_OUTPUT && GAIN ? u0.div(g) : u0;
      FloatVector h0 = GAIN ? y0.mul(g) : y0;
      FloatVector w0 = (CENTRED ? h0.sub(gradient0) : h0).sub(v0.mul(product0)).mul(rstd0);
      FloatVector e0 =
          !RESIDUAL
              ? w0
              : w0.add(
                  HEAP_RESIDUAL
                      ? FloatVector.fromArray(F, (float[]) residuals, eStart0 + i)
                      : FloatVector.fromMemorySegment(F, NATIVE, eFrom0 + 4L * i, ORDER));
      if (HEAP_DX) {
        e0.intoArray((float[]) dxs, dStart0 + i);
      } else {
        e0.intoMemorySegment(NATIVE, dFrom0 + 4L * i, ORDER);
      }
      if (GAIN_GRADIENT) {
        FloatVector sum = FloatVector.fromArray(F, dgain, c).add(y0.mul(v0));
        sum.intoArray(dgain, c);
      }
      if (BIAS_GRADIENT) {
        FloatVector sum = FloatVector.fromArray(F, dbias, c).add(y0);
        sum.intoArray(dbias, c);
      }
    }
  }
}
