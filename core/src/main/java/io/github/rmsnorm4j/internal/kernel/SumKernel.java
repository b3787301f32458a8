package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The sum of two rectangles of rows, element by element, packed into an array. */
public final class SumKernel {
  /** What a kernel of this kind is specialised on; 0 bits are plain Java. */
  public record Spec(boolean float64, int vectorBits, Memory left, Memory right) {}

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class,
          Object.class,
          long.class,
          long.class,
          Object.class,
          long.class,
          long.class,
          int.class,
          int.class,
          Object.class);

  private final MethodHandle rows;

  private SumKernel(Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarSum" : "VectorSum";
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), source, spec);
    rows = Kernels.method(kernel, "rows", ROWS);
  }

  /** The kernel of these choices. */
  public static SumKernel of(Spec spec) {
    return Kernels.of(spec, SumKernel.class, s -> new SumKernel((Spec) s));
  }

  /**
   * Adds.
   *
   * @param sum float[] or double[] by the arithmetic's type; may be the array of either side, if
   *     that is packed from its start
   */
  public void rows(
      Object left,
      long leftOffset,
      long leftStride,
      Object right,
      long rightOffset,
      long rightStride,
      int rows,
      int columns,
      Object sum) {
    try {
      this.rows.invokeExact(
          left, leftOffset, leftStride, right, rightOffset, rightStride, rows, columns, sum);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
