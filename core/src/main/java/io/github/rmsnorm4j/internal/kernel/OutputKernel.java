package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** The second half of a norm: every element scaled by its row's statistic, and gain and bias. */
public final class OutputKernel {
  /** What a kernel of this kind is specialised on; 0 bits are plain Java. */
  public record Spec(
      boolean float64,
      int vectorBits,
      Memory in,
      Memory out,
      boolean centred,
      Scaling scaling,
      boolean gain,
      boolean bias) {}

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
          int.class,
          Object.class,
          Object.class,
          Workspace.class);

  private final MethodHandle rows;

  private OutputKernel(Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarOutput" : "VectorOutput";
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), source, spec);
    rows = Kernels.method(kernel, "rows", ROWS);
  }

  /** The kernel of these choices. */
  public static OutputKernel of(Spec spec) {
    return Kernels.of(spec, OutputKernel.class, s -> new OutputKernel((Spec) s));
  }

  /**
   * Writes a rectangle of rows: row r with {@code work.rstd[r]}, or {@code work.root[r]} where it
   * is divided, and, if centred, {@code work.mean[r]}.
   *
   * @param column the rectangle's first column, where its gain and bias begin
   * @param gain float[] or double[] by the arithmetic's type, null without a gain
   * @param bias likewise
   */
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
    try {
      this.rows.invokeExact(
          in, inOffset, inStride, out, outOffset, outStride, rows, column, columns, gain, bias,
          work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
