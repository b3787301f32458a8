package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What lies between the two halves of a norm, for float32 rows and with vectors: from row sums to
 * mean, root and rstd in float64, and those rounded to float32. Bit for bit what {@code Statistic}
 * does in plain Java, which as everybody's code is compiled for everybody's number of rows.
 */
public final class RootKernel {
  /**
   * What a kernel of this kind is specialised on.
   *
   * @param divides whether rows are divided by their root, which then is rounded too
   */
  public record Spec(
      int vectorBits, boolean centred, boolean divides, EpsilonPlacement placement) {}

  private static final MethodType ROWS =
      MethodType.methodType(void.class, Workspace.class, int.class, double.class, double.class);
  private static final MethodType ROUND =
      MethodType.methodType(boolean.class, Workspace.class, int.class);

  private final MethodHandle rows;
  private final MethodHandle round;

  private RootKernel(Spec spec) {
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), "VectorRoot", spec);
    rows = Kernels.method(kernel, "rows", ROWS);
    round = Kernels.method(kernel, "round", ROUND);
  }

  /** The kernel of these choices. */
  public static RootKernel of(Spec spec) {
    return Kernels.of(spec, RootKernel.class, s -> new RootKernel((Spec) s));
  }

  /** For each row of n elements the root and rstd and, centred, the mean. */
  public void rows(Workspace work, int rows, double n, double epsilon) {
    try {
      this.rows.invokeExact(work, rows, n, epsilon);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }

  /**
   * Rounds rstd and root to float32, unless one of them is out of float32's range.
   *
   * @return whether one is, or a mean is so large that it could be when it is taken off; then
   *     nothing is rounded
   */
  public boolean round(Workspace work, int rows) {
    try {
      return (boolean) round.invokeExact(work, rows);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
