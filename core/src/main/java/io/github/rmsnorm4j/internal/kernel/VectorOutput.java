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
  private static final boolean HEAP_IN = IN == Memory.HEAP;
  private static final boolean HEAP_OUT = OUT == Memory.HEAP;
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  private static final VectorShape SHAPE = VectorShape.forBitSize(SPEC.vectorBits());
  private static final VectorSpecies<Float> F = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Double> D = VectorSpecies.of(double.class, SHAPE);
  private static final int FLOATS = F.length();
  private static final int DOUBLES = D.length();
  private static final int STRIP = 4 * FLOATS;

  /** Bytes of a vector. */
  private static final long VECTOR = 4L * FLOATS;

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
      float mean = (float) work.mean[r];
      FloatVector hi = CENTRED ? FloatVector.broadcast(F, mean) : null;
      FloatVector lo = CENTRED ? FloatVector.broadcast(F, (float) (work.mean[r] - mean)) : null;
      FloatVector rstd = FloatVector.broadcast(F, (float) work.rstd[r]);
      int i = (int) (from >> 2);
      int o = (int) (to >> 2);
      FloatVector v0 = normalise(loadFloats(in, i, from), hi, lo, rstd);
      FloatVector v1 = normalise(loadFloats(in, i + FLOATS, from + VECTOR), hi, lo, rstd);
      FloatVector v2 = normalise(loadFloats(in, i + 2 * FLOATS, from + 2 * VECTOR), hi, lo, rstd);
      FloatVector v3 = normalise(loadFloats(in, i + 3 * FLOATS, from + 3 * VECTOR), hi, lo, rstd);
      storeFloats(affine(v0, g0, b0), out, o, to);
      storeFloats(affine(v1, g1, b1), out, o + FLOATS, to + VECTOR);
      storeFloats(affine(v2, g2, b2), out, o + 2 * FLOATS, to + 2 * VECTOR);
      storeFloats(affine(v3, g3, b3), out, o + 3 * FLOATS, to + 3 * VECTOR);
      from += inStride;
      to += outStride;
    }
  }

  private static FloatVector normalise(
      FloatVector x, FloatVector hi, FloatVector lo, FloatVector rstd) {
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
    int start = (int) (from >> 2);
    int target = (int) (to >> 2);
    int whole = F.loopBound(n);
    FloatVector his = FloatVector.broadcast(F, hi);
    FloatVector los = FloatVector.broadcast(F, lo);
    FloatVector rstds = FloatVector.broadcast(F, rstd);
    for (int i = 0; i < whole; i += FLOATS) {
      FloatVector g = GAIN ? FloatVector.fromArray(F, gain, column + i) : null;
      FloatVector b = BIAS ? FloatVector.fromArray(F, bias, column + i) : null;
      FloatVector v = normalise(loadFloats(in, start + i, from + 4L * i), his, los, rstds);
      storeFloats(affine(v, g, b), out, target + i, to + 4L * i);
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
    int start = (int) (from >> 3);
    int target = (int) (to >> 3);
    int whole = D.loopBound(n);
    DoubleVector means = DoubleVector.broadcast(D, mean);
    DoubleVector rstds = DoubleVector.broadcast(D, rstd);
    for (int i = 0; i < whole; i += DOUBLES) {
      DoubleVector v = loadDoubles(in, start + i, from + 8L * i);
      if (CENTRED) {
        v = v.sub(means);
      }
      v = v.mul(rstds);
      if (GAIN) {
        v = v.mul(DoubleVector.fromArray(D, gain, column + i));
      }
      if (BIAS) {
        v = v.add(DoubleVector.fromArray(D, bias, column + i));
      }
      storeDoubles(v, out, target + i, to + 8L * i);
    }
    if (whole < n) {
      double[] g = GAIN ? gain : null;
      double[] b = BIAS ? bias : null;
      OutputRow.doubles(IN, in, from, OUT, out, to, whole, n, CENTRED, mean, rstd, g, b, column);
    }
  }

  /*
   * Of array[index], or at an address. Like normalise and affine these are called from loops alone
   * and call nothing of ours: from a method without a loop the JIT does not inline when it happens
   * to have counted few calls ("low call site frequency").
   */

  private static FloatVector loadFloats(Object array, int index, long address) {
    if (HEAP_IN) {
      return FloatVector.fromArray(F, (float[]) array, index);
    }
    return FloatVector.fromMemorySegment(F, Memory.Native.EVERYTHING, address, ORDER);
  }

  private static DoubleVector loadDoubles(Object array, int index, long address) {
    if (HEAP_IN) {
      return DoubleVector.fromArray(D, (double[]) array, index);
    }
    return DoubleVector.fromMemorySegment(D, Memory.Native.EVERYTHING, address, ORDER);
  }

  private static void storeFloats(FloatVector v, Object array, int index, long address) {
    if (HEAP_OUT) {
      v.intoArray((float[]) array, index);
      return;
    }
    v.intoMemorySegment(Memory.Native.EVERYTHING, address, ORDER);
  }

  private static void storeDoubles(DoubleVector v, Object array, int index, long address) {
    if (HEAP_OUT) {
      v.intoArray((double[]) array, index);
      return;
    }
    v.intoMemorySegment(Memory.Native.EVERYTHING, address, ORDER);
  }
}
