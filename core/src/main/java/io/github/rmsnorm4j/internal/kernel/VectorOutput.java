package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Output rows with the Vector API, bit for bit those of {@link ScalarOutput}.
 *
 * <p>Loops call nothing of ours: a method that takes or gives vectors and is not inlined boxes
 * them, and on a busy machine, where the JIT has counted few calls, it does not inline the smallest
 * one.
 */
final class VectorOutput {
  private static final OutputKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), OutputKernel.Spec.class);
  private static final boolean FLOAT64 = SPEC.float64();
  private static final Memory IN = SPEC.in();
  private static final Memory OUT = SPEC.out();
  private static final boolean HEAP_IN = IN == Memory.HEAP;
  private static final boolean HEAP_OUT = OUT == Memory.HEAP;
  private static final boolean CENTRED = SPEC.centred();
  private static final Scaling SCALING = SPEC.scaling();
  private static final boolean MULTIPLIED = SCALING == Scaling.MULTIPLIED;
  private static final boolean DIVIDED = SCALING == Scaling.DIVIDED;
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

  private static final MemorySegment NATIVE = HEAP_IN && HEAP_OUT ? null : Memory.Native.EVERYTHING;
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
    double[] by = DIVIDED ? work.root : work.rstd;
    if (FLOAT64) {
      for (int r = 0; r < rows; r++) {
        long from = inOffset + r * inStride;
        long to = outOffset + r * outStride;
        double[] g = (double[]) gain;
        double[] b = (double[]) bias;
        doubles(in, from, out, to, columns, work.mean[r], by[r], g, b, column);
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
      floats(in, from, out, to, columns - done, work.mean[r], (float) by[r], g, b, column + done);
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
      FloatVector by = FloatVector.broadcast(F, (float) (DIVIDED ? work.root[r] : work.rstd[r]));
      long p = from & Memory.ADDRESSES;
      long q = to & Memory.ADDRESSES;
      int i = (int) (from >> 2);
      int o = (int) (to >> 2);
      FloatVector x0 =
          HEAP_IN
              ? FloatVector.fromArray(F, (float[]) in, i)
              : FloatVector.fromMemorySegment(F, NATIVE, p, ORDER);
      FloatVector x1 =
          HEAP_IN
              ? FloatVector.fromArray(F, (float[]) in, i + FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, p + VECTOR, ORDER);
      FloatVector x2 =
          HEAP_IN
              ? FloatVector.fromArray(F, (float[]) in, i + 2 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 2 * VECTOR, ORDER);
      FloatVector x3 =
          HEAP_IN
              ? FloatVector.fromArray(F, (float[]) in, i + 3 * FLOATS)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 3 * VECTOR, ORDER);
      FloatVector d0 = CENTRED ? x0.sub(hi).sub(lo) : x0;
      FloatVector v0 = MULTIPLIED ? d0.mul(by) : DIVIDED ? d0.div(by) : d0;
      FloatVector d1 = CENTRED ? x1.sub(hi).sub(lo) : x1;
      FloatVector v1 = MULTIPLIED ? d1.mul(by) : DIVIDED ? d1.div(by) : d1;
      FloatVector d2 = CENTRED ? x2.sub(hi).sub(lo) : x2;
      FloatVector v2 = MULTIPLIED ? d2.mul(by) : DIVIDED ? d2.div(by) : d2;
      FloatVector d3 = CENTRED ? x3.sub(hi).sub(lo) : x3;
      FloatVector v3 = MULTIPLIED ? d3.mul(by) : DIVIDED ? d3.div(by) : d3;
      FloatVector s0 = GAIN ? v0.mul(g0) : v0;
      FloatVector s1 = GAIN ? v1.mul(g1) : v1;
      FloatVector s2 = GAIN ? v2.mul(g2) : v2;
      FloatVector s3 = GAIN ? v3.mul(g3) : v3;
      FloatVector y0 = BIAS ? s0.add(b0) : s0;
      FloatVector y1 = BIAS ? s1.add(b1) : s1;
      FloatVector y2 = BIAS ? s2.add(b2) : s2;
      FloatVector y3 = BIAS ? s3.add(b3) : s3;
      if (HEAP_OUT) {
        y0.intoArray((float[]) out, o);
        y1.intoArray((float[]) out, o + FLOATS);
        y2.intoArray((float[]) out, o + 2 * FLOATS);
        y3.intoArray((float[]) out, o + 3 * FLOATS);
      } else {
        y0.intoMemorySegment(NATIVE, q, ORDER);
        y1.intoMemorySegment(NATIVE, q + VECTOR, ORDER);
        y2.intoMemorySegment(NATIVE, q + 2 * VECTOR, ORDER);
        y3.intoMemorySegment(NATIVE, q + 3 * VECTOR, ORDER);
      }
      from += inStride;
      to += outStride;
    }
  }

  private static void floats(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      float by,
      float[] gain,
      float[] bias,
      int column) {
    float hi = (float) mean;
    float lo = (float) (mean - hi);
    long source = from & Memory.ADDRESSES;
    long sink = to & Memory.ADDRESSES;
    int start = (int) (from >> 2);
    int target = (int) (to >> 2);
    int whole = F.loopBound(n);
    FloatVector his = FloatVector.broadcast(F, hi);
    FloatVector los = FloatVector.broadcast(F, lo);
    FloatVector bys = FloatVector.broadcast(F, by);
    for (int i = 0; i < whole; i += FLOATS) {
      long p = source + 4L * i;
      long q = sink + 4L * i;
      FloatVector g = GAIN ? FloatVector.fromArray(F, gain, column + i) : null;
      FloatVector b = BIAS ? FloatVector.fromArray(F, bias, column + i) : null;
      FloatVector x =
          HEAP_IN
              ? FloatVector.fromArray(F, (float[]) in, start + i)
              : FloatVector.fromMemorySegment(F, NATIVE, p, ORDER);
      FloatVector d = CENTRED ? x.sub(his).sub(los) : x;
      FloatVector v = MULTIPLIED ? d.mul(bys) : DIVIDED ? d.div(bys) : d;
      FloatVector scaled = GAIN ? v.mul(g) : v;
      FloatVector y = BIAS ? scaled.add(b) : scaled;
      if (HEAP_OUT) {
        y.intoArray((float[]) out, target + i);
      } else {
        y.intoMemorySegment(NATIVE, q, ORDER);
      }
    }
    if (whole < n) {
      float[] g = GAIN ? gain : null;
      float[] b = BIAS ? bias : null;
      OutputRow.floats(
          IN, in, from, OUT, out, to, whole, n, CENTRED, SCALING, hi, lo, by, g, b, column);
    }
  }

  private static void doubles(
      Object in,
      long from,
      Object out,
      long to,
      int n,
      double mean,
      double by,
      double[] gain,
      double[] bias,
      int column) {
    long source = from & Memory.ADDRESSES;
    long sink = to & Memory.ADDRESSES;
    int start = (int) (from >> 3);
    int target = (int) (to >> 3);
    int whole = D.loopBound(n);
    DoubleVector means = DoubleVector.broadcast(D, mean);
    DoubleVector bys = DoubleVector.broadcast(D, by);
    for (int i = 0; i < whole; i += DOUBLES) {
      long p = source + 8L * i;
      long q = sink + 8L * i;
      DoubleVector g = GAIN ? DoubleVector.fromArray(D, gain, column + i) : null;
      DoubleVector b = BIAS ? DoubleVector.fromArray(D, bias, column + i) : null;
      DoubleVector x =
          HEAP_IN
              ? DoubleVector.fromArray(D, (double[]) in, start + i)
              : DoubleVector.fromMemorySegment(D, NATIVE, p, ORDER);
      DoubleVector d = CENTRED ? x.sub(means) : x;
      DoubleVector v = MULTIPLIED ? d.mul(bys) : DIVIDED ? d.div(bys) : d;
      DoubleVector scaled = GAIN ? v.mul(g) : v;
      DoubleVector y = BIAS ? scaled.add(b) : scaled;
      if (HEAP_OUT) {
        y.intoArray((double[]) out, target + i);
      } else {
        y.intoMemorySegment(NATIVE, q, ORDER);
      }
    }
    if (whole < n) {
      double[] g = GAIN ? gain : null;
      double[] b = BIAS ? bias : null;
      OutputRow.doubles(
          IN, in, from, OUT, out, to, whole, n, CENTRED, SCALING, mean, by, g, b, column);
    }
  }
}
