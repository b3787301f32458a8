package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The statistic of float32 rows from their sums, several rows to a vector. A vector that is not
 * full goes over what earlier rows left behind; for the range it is filled up with the last row.
 */
final class VectorRoot {
  private static final RootKernel.Spec SPEC =
      Kernels.choices(MethodHandles.lookup(), RootKernel.Spec.class);
  private static final boolean CENTRED = SPEC.centred();
  private static final boolean DIVIDES = SPEC.divides();
  private static final boolean INSIDE = SPEC.placement() == EpsilonPlacement.INSIDE;
  private static final boolean OUTSIDE = SPEC.placement() == EpsilonPlacement.OUTSIDE;

  private static final VectorSpecies<Double> D =
      VectorSpecies.of(double.class, VectorShape.forBitSize(SPEC.vectorBits()));

  /** As many floats as {@link #D} has doubles. */
  private static final VectorSpecies<Float> F =
      VectorSpecies.of(float.class, VectorShape.forBitSize(SPEC.vectorBits() / 2));

  private static final VectorSpecies<Integer> BITS = F.withLanes(int.class);
  private static final int VECTOR = D.length();

  private static final int SMALLEST = Float.floatToRawIntBits(Float.MIN_NORMAL);
  private static final int RANGE = Float.floatToRawIntBits(Float.MAX_VALUE) - SMALLEST;

  /** Means beyond it could overflow in float32 when taken off an element. */
  private static final int LARGEST_MEAN = Float.floatToRawIntBits(0x1p103f) - 1;

  private VectorRoot() {}

  static void rows(Workspace work, int rows, double n, double epsilon) {
    double[] squares = work.squares;
    double[] sums = work.sums;
    double[] shift = work.shift;
    double[] mean = work.mean;
    double[] roots = work.root;
    double[] rstd = work.rstd;
    for (int r = 0; r < rows; r += VECTOR) {
      DoubleVector square = DoubleVector.fromArray(D, squares, r);
      if (CENTRED) {
        DoubleVector sum = DoubleVector.fromArray(D, sums, r);
        DoubleVector.fromArray(D, shift, r).add(sum.div(n)).intoArray(mean, r);
        square = square.sub(sum.mul(sum).div(n));
      }
      DoubleVector meanSquare = CENTRED ? square.div(n).max(0.0) : square.div(n);
      DoubleVector root = (INSIDE ? meanSquare.add(epsilon) : meanSquare).sqrt();
      root = INSIDE ? root : OUTSIDE ? root.add(epsilon) : root.max(epsilon);
      root.intoArray(roots, r);
      DoubleVector.broadcast(D, 1.0).div(root).intoArray(rstd, r);
    }
  }

  static boolean round(Workspace work, int rows) {
    double[] rstd = work.rstd;
    double[] root = work.root;
    double[] mean = work.mean;
    for (int r = rows; r % VECTOR != 0; r++) {
      rstd[r] = rstd[rows - 1];
      root[r] = root[rows - 1];
      mean[r] = mean[rows - 1];
    }
    IntVector out = IntVector.zero(BITS);
    for (int r = 0; r < rows; r += VECTOR) {
      FloatVector y = (FloatVector) DoubleVector.fromArray(D, rstd, r).castShape(F, 0);
      IntVector above = y.reinterpretAsInts().sub(SMALLEST);
      out = out.or(above).or(IntVector.broadcast(BITS, RANGE).sub(above));
      if (DIVIDES) {
        FloatVector q = (FloatVector) DoubleVector.fromArray(D, root, r).castShape(F, 0);
        IntVector over = q.reinterpretAsInts().sub(SMALLEST);
        out = out.or(over).or(IntVector.broadcast(BITS, RANGE).sub(over));
      }
      if (CENTRED) {
        FloatVector m = (FloatVector) DoubleVector.fromArray(D, mean, r).castShape(F, 0);
        IntVector size = m.reinterpretAsInts().and(Integer.MAX_VALUE);
        out = out.or(IntVector.broadcast(BITS, LARGEST_MEAN).sub(size));
      }
    }
    if (out.reduceLanes(VectorOperators.OR) < 0) {
      return true;
    }
    for (int r = 0; r < rows; r += VECTOR) {
      ((DoubleVector) DoubleVector.fromArray(D, rstd, r).castShape(F, 0).castShape(D, 0))
          .intoArray(rstd, r);
      if (DIVIDES) {
        ((DoubleVector) DoubleVector.fromArray(D, root, r).castShape(F, 0).castShape(D, 0))
            .intoArray(root, r);
      }
    }
    return false;
  }
}
