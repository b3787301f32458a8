package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Output rows with the Vector API, bit for bit those of {@link ScalarOutput}. */
final class VectorOutput {
  private static final OutputKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), OutputKernel.Spec.class);
  private static final boolean FLOAT64 = SPEC.float64();
  private static final Memory IN = SPEC.in();
  private static final Memory OUT = SPEC.out();
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  private static final VectorShape SHAPE = VectorShape.forBitSize(SPEC.vectorBits());
  private static final VectorSpecies<Float> F = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Double> D = VectorSpecies.of(double.class, SHAPE);
  private static final int FLOATS = F.length();
  private static final int DOUBLES = D.length();
  private static final int STRIP = 4 * FLOATS;

  /**
   * Up to this width all rows of a chunk go through together, four vectors of columns at a time.
   */
  private static final int NARROW = 128;

  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorOutput() {}

  static void rows(
      Object in,
      long inOffset,
      long inStride,
      Object out,
      long outOffset,
      long outStride,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    if (FLOAT64) {
      for (int r = 0; r < rows; r++) {
        long from = inOffset + r * inStride;
        long to = outOffset + r * outStride;
        double[] g = (double[]) gain;
        double[] b = (double[]) bias;
        doubles(in, from, out, to, columns, work.mean[r], work.rstd[r], g, b, column);
      }
      return;
    }
    float[] g = (float[]) gain;
    float[] b = (float[]) bias;
    int done = 0;
    for (; rows > 1 && columns <= NARROW && done + STRIP <= columns; done += STRIP) {
      long from = inOffset + 4L * done;
      long to = outOffset + 4L * done;
      strip(in, from, inStride, out, to, outStride, rows, g, b, column + done, work);
    }
    for (int r = 0; r < rows && done < columns; r++) {
      long from = inOffset + r * inStride + 4L * done;
      long to = outOffset + r * outStride + 4L * done;
      float rstd = (float) work.rstd[r];
      floats(in, from, out, to, columns - done, work.mean[r], rstd, g, b, column + done);
    }
  }

  /** Four vectors' columns of all rows, with their gain and bias in registers. */
  private static void strip(
      Object in,
      long from,
      long inStride,
      Object out,
      long to,
      long outStride,
      int rows,
      float[] gain,
      float[] bias,
      int column,
      Workspace work) {
    FloatVector g0 = GAIN ? FloatVector.fromArray(F, gain, column) : null;
    FloatVector g1 = GAIN ? FloatVector.fromArray(F, gain, column + FLOATS) : null;
    FloatVector g2 = GAIN ? FloatVector.fromArray(F, gain, column + 2 * FLOATS) : null;
    FloatVector g3 = GAIN ? FloatVector.fromArray(F, gain, column + 3 * FLOATS) : null;
    FloatVector b0 = BIAS ? FloatVector.fromArray(F, bias, column) : null;
    FloatVector b1 = BIAS ? FloatVector.fromArray(F, bias, column + FLOATS) : null;
    FloatVector b2 = BIAS ? FloatVector.fromArray(F, bias, column + 2 * FLOATS) : null;
    FloatVector b3 = BIAS ? FloatVector.fromArray(F, bias, column + 3 * FLOATS) : null;
    for (int r = 0; r < rows; r++) {
      float hi = (float) work.mean[r];
      float lo = (float) (work.mean[r] - hi);
      float rstd = (float) work.rstd[r];
      FloatVector v0 = normalise(loadFloats(in, from, 0), hi, lo, rstd);
      FloatVector v1 = normalise(loadFloats(in, from, FLOATS), hi, lo, rstd);
      FloatVector v2 = normalise(loadFloats(in, from, 2 * FLOATS), hi, lo, rstd);
      FloatVector v3 = normalise(loadFloats(in, from, 3 * FLOATS), hi, lo, rstd);
      storeFloats(affine(v0, g0, b0), out, to, 0);
      storeFloats(affine(v1, g1, b1), out, to, FLOATS);
      storeFloats(affine(v2, g2, b2), out, to, 2 * FLOATS);
      storeFloats(affine(v3, g3, b3), out, to, 3 * FLOATS);
      from += inStride;
      to += outStride;
    }
  }

  private static FloatVector normalise(FloatVector x, float hi, float lo, float rstd) {
    return CENTRED ? x.sub(hi).sub(lo).mul(rstd) : x.mul(rstd);
  }

  private static FloatVector affine(FloatVector v, FloatVector gain, FloatVector bias) {
    FloatVector scaled = GAIN ? v.mul(gain) : v;
    return BIAS ? scaled.add(bias) : scaled;
  }

  private static void floats(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      float rstd,
      float[] gain,
      float[] bias,
      int column) {
    float hi = (float) mean;
    float lo = (float) (mean - hi);
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += FLOATS) {
      FloatVector g = GAIN ? FloatVector.fromArray(F, gain, column + i) : null;
      FloatVector b = BIAS ? FloatVector.fromArray(F, bias, column + i) : null;
      FloatVector v = normalise(loadFloats(in, from, i), hi, lo, rstd);
      storeFloats(affine(v, g, b), out, to, i);
    }
    if (whole < n) {
      float[] g = GAIN ? gain : null;
      float[] b = BIAS ? bias : null;
      OutputRow.floats(IN, in, from, OUT, out, to, whole, n, CENTRED, hi, lo, rstd, g, b, column);
    }
  }

  private static void doubles(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      double rstd,
      double[] gain,
      double[] bias,
      int column) {
    int whole = D.loopBound(n);
    for (int i = 0; i < whole; i += DOUBLES) {
      DoubleVector v = loadDoubles(in, from, i);
      if (CENTRED) {
        v = v.sub(mean);
      }
      v = v.mul(rstd);
      if (GAIN) {
        v = v.mul(DoubleVector.fromArray(D, gain, column + i));
      }
      if (BIAS) {
        v = v.add(DoubleVector.fromArray(D, bias, column + i));
      }
      storeDoubles(v, out, to, i);
    }
    if (whole < n) {
      double[] g = GAIN ? gain : null;
      double[] b = BIAS ? bias : null;
      OutputRow.doubles(IN, in, from, OUT, out, to, whole, n, CENTRED, mean, rstd, g, b, column);
    }
  }

  private static FloatVector loadFloats(Object base, long offset, int i) {
    return IN == Memory.HEAP ? heapFloats(base, offset, i) : nativeFloats(offset, i);
  }

  private static DoubleVector loadDoubles(Object base, long offset, int i) {
    return IN == Memory.HEAP ? heapDoubles(base, offset, i) : nativeDoubles(offset, i);
  }

  private static FloatVector heapFloats(Object base, long offset, int i) {
    return FloatVector.fromArray(F, (float[]) base, (int) (offset >> 2) + i);
  }

  private static FloatVector nativeFloats(long offset, int i) {
    return FloatVector.fromMemorySegment(F, Memory.Native.EVERYTHING, offset + 4L * i, ORDER);
  }

  private static DoubleVector heapDoubles(Object base, long offset, int i) {
    return DoubleVector.fromArray(D, (double[]) base, (int) (offset >> 3) + i);
  }

  private static DoubleVector nativeDoubles(long offset, int i) {
    return DoubleVector.fromMemorySegment(D, Memory.Native.EVERYTHING, offset + 8L * i, ORDER);
  }

  private static void storeFloats(FloatVector v, Object base, long offset, int i) {
    if (OUT == Memory.HEAP) {
      heapStore(v, base, offset, i);
    } else {
      nativeStore(v, offset, i);
    }
  }

  private static void storeDoubles(DoubleVector v, Object base, long offset, int i) {
    if (OUT == Memory.HEAP) {
      heapStore(v, base, offset, i);
    } else {
      nativeStore(v, offset, i);
    }
  }

  private static void heapStore(FloatVector v, Object base, long offset, int i) {
    v.intoArray((float[]) base, (int) (offset >> 2) + i);
  }

  private static void heapStore(DoubleVector v, Object base, long offset, int i) {
    v.intoArray((double[]) base, (int) (offset >> 3) + i);
  }

  private static void nativeStore(FloatVector v, long offset, int i) {
    v.intoMemorySegment(Memory.Native.EVERYTHING, offset + 4L * i, ORDER);
  }

  private static void nativeStore(DoubleVector v, long offset, int i) {
    v.intoMemorySegment(Memory.Native.EVERYTHING, offset + 8L * i, ORDER);
  }
}
