package io.github.rmsnorm4j.internal.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Sums of rows with the Vector API. */
final class VectorSum {
  private static final SumKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), SumKernel.Spec.class);
  private static final Memory LEFT = SPEC.left();
  private static final Memory RIGHT = SPEC.right();
  private static final boolean LEFT_HEAP = LEFT == Memory.HEAP;
  private static final boolean RIGHT_HEAP = RIGHT == Memory.HEAP;
  private static final VectorShape SHAPE = VectorShape.forBitSize(SPEC.vectorBits());
  private static final VectorSpecies<Float> F = VectorSpecies.of(float.class, SHAPE);
  private static final VectorSpecies<Double> D = VectorSpecies.of(double.class, SHAPE);
  private static final MemorySegment NATIVE =
      LEFT_HEAP && RIGHT_HEAP ? null : Memory.Native.EVERYTHING;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorSum() {}

  static void rows(
      Object left,
      long leftOffset,
      long leftStride,
      Object right,
      long rightOffset,
      long rightStride,
      int rows,
      int columns,
      Object sum) {
    for (int r = 0; r < rows; r++) {
      long a = leftOffset + r * leftStride;
      long b = rightOffset + r * rightStride;
      int to = r * columns;
      if (SPEC.float64()) {
        doubles(left, a, right, b, columns, (double[]) sum, to);
      } else {
        floats(left, a, right, b, columns, (float[]) sum, to);
      }
    }
  }

  private static void floats(
      Object left, long a, Object right, long b, int n, float[] sum, int to) {
    long p = a & Memory.ADDRESSES;
    long q = b & Memory.ADDRESSES;
    int i0 = (int) (a >> 2);
    int j0 = (int) (b >> 2);
    int whole = F.loopBound(n);
    for (int i = 0; i < whole; i += F.length()) {
      FloatVector x =
          LEFT_HEAP
              ? FloatVector.fromArray(F, (float[]) left, i0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, p + 4L * i, ORDER);
      FloatVector y =
          RIGHT_HEAP
              ? FloatVector.fromArray(F, (float[]) right, j0 + i)
              : FloatVector.fromMemorySegment(F, NATIVE, q + 4L * i, ORDER);
      x.add(y).intoArray(sum, to + i);
    }
    for (int i = whole; i < n; i++) {
      sum[to + i] = Memory.getFloat(LEFT, left, a, i) + Memory.getFloat(RIGHT, right, b, i);
    }
  }

  private static void doubles(
      Object left, long a, Object right, long b, int n, double[] sum, int to) {
    long p = a & Memory.ADDRESSES;
    long q = b & Memory.ADDRESSES;
    int i0 = (int) (a >> 3);
    int j0 = (int) (b >> 3);
    int whole = D.loopBound(n);
    for (int i = 0; i < whole; i += D.length()) {
      DoubleVector x =
          LEFT_HEAP
              ? DoubleVector.fromArray(D, (double[]) left, i0 + i)
              : DoubleVector.fromMemorySegment(D, NATIVE, p + 8L * i, ORDER);
      DoubleVector y =
          RIGHT_HEAP
              ? DoubleVector.fromArray(D, (double[]) right, j0 + i)
              : DoubleVector.fromMemorySegment(D, NATIVE, q + 8L * i, ORDER);
      x.add(y).intoArray(sum, to + i);
    }
    for (int i = whole; i < n; i++) {
      sum[to + i] = Memory.getDouble(LEFT, left, a, i) + Memory.getDouble(RIGHT, right, b, i);
    }
  }
}
