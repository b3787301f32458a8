package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Output rows with the Vector API, bit for bit those of {@link ScalarOutput}. */
final class VectorOutput implements OutputKernel {
  private static final Spec SPEC = Kernels.choices(MethodHandles.lookup(), Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean GAIN = SPEC.gain();
  private static final boolean BIAS = SPEC.bias();

  private static final VectorShape SHAPE = VectorShape.forBitSize(SPEC.vectorBits());
  private static final VectorSpecies<Float> F = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Double> D = VectorSpecies.of(double.class, SHAPE);
  private static final int FLOATS = F.length();
  private static final int DOUBLES = D.length();
  private static final ByteOrder NATIVE_ORDER = ByteOrder.nativeOrder();

  VectorOutput() {}

  @Override
  public void rows(
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
    int bytes = SPEC.float64() ? Double.BYTES : Float.BYTES;
    long inBytes = (rows - 1) * inStride + (long) columns * bytes;
    long outBytes = (rows - 1) * outStride + (long) columns * bytes;
    if (SPEC.float64()) {
      MemorySegment x = Memory.doubles(SPEC.in(), in, inOffset, inBytes);
      MemorySegment y = Memory.doubles(SPEC.out(), out, outOffset, outBytes);
      for (int r = 0; r < rows; r++) {
        doubles(
            x,
            r * inStride,
            y,
            r * outStride,
            columns,
            work.mean[r],
            work.rstd[r],
            (double[]) gain,
            (double[]) bias,
            column);
      }
    } else {
      MemorySegment x = Memory.floats(SPEC.in(), in, inOffset, inBytes);
      MemorySegment y = Memory.floats(SPEC.out(), out, outOffset, outBytes);
      for (int r = 0; r < rows; r++) {
        floats(
            x,
            r * inStride,
            y,
            r * outStride,
            columns,
            work.mean[r],
            (float) work.rstd[r],
            (float[]) gain,
            (float[]) bias,
            column);
      }
    }
  }

  private static void floats(
      MemorySegment x,
      long from,
      MemorySegment y,
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
      FloatVector v = FloatVector.fromMemorySegment(F, x, from + 4L * i, NATIVE_ORDER);
      if (CENTRED) {
        v = v.sub(hi).sub(lo);
      }
      v = v.mul(rstd);
      if (GAIN) {
        v = v.mul(FloatVector.fromArray(F, gain, column + i));
      }
      if (BIAS) {
        v = v.add(FloatVector.fromArray(F, bias, column + i));
      }
      v.intoMemorySegment(y, to + 4L * i, NATIVE_ORDER);
    }
    OutputRow.floats(
        x,
        from,
        y,
        to,
        whole,
        n,
        CENTRED,
        mean,
        rstd,
        GAIN ? gain : null,
        BIAS ? bias : null,
        column);
  }

  private static void doubles(
      MemorySegment x,
      long from,
      MemorySegment y,
      long to,
      int n,
      double mean,
      double rstd,
      double[] gain,
      double[] bias,
      int column) {
    int whole = D.loopBound(n);
    for (int i = 0; i < whole; i += DOUBLES) {
      DoubleVector v = DoubleVector.fromMemorySegment(D, x, from + 8L * i, NATIVE_ORDER);
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
      v.intoMemorySegment(y, to + 8L * i, NATIVE_ORDER);
    }
    OutputRow.doubles(
        x,
        from,
        y,
        to,
        whole,
        n,
        CENTRED,
        mean,
        rstd,
        GAIN ? gain : null,
        BIAS ? bias : null,
        column);
  }
}
