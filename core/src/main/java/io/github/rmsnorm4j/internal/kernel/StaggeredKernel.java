package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Both halves of a norm at once, of different rows: sums of the next rows, while the rows before
 * them are written. For float32 rows of one memory, with vectors.
 */
public final class StaggeredKernel {
  /**
   * What a kernel of this kind is specialised on.
   *
   * @param in where rows lie, and the residual that they are added to on the way
   * @param residual whether there is one
   * @param out where rows are written
   * @param lanes the width of narrow rows that are a multiple of the number of lanes, and 0 of
   *     others; with it there is no residual, rows are not centred, and vectors have 256 bits or
   *     more
   */
  public record Spec(
      int vectorBits,
      Memory in,
      boolean residual,
      Memory out,
      boolean centred,
      Scaling scaling,
      boolean gain,
      boolean bias,
      int lanes) {}

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class,
          Rectangle.class,
          Rectangle.class,
          int.class,
          int.class,
          Rectangle.class,
          Rectangle.class,
          float[].class,
          float[].class,
          Workspace.class);

  private final MethodHandle rows;

  private StaggeredKernel(Spec spec) {
    String source = spec.lanes() > 0 ? "VectorNarrow" : "VectorStaggered";
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), source, spec);
    rows = Kernels.method(kernel, "rows", ROWS);
  }

  /** The kernel of these choices. */
  public static StaggeredKernel of(Spec spec) {
    return Kernels.of(spec, StaggeredKernel.class, s -> new StaggeredKernel((Spec) s));
  }

  /**
   * Does for x and residual what {@link StatisticKernel#rows} does, and for as many rows, from in
   * to out, what {@link OutputKernel#rows} does, whose statistic is in the workspace.
   */
  public void rows(
      Rectangle x,
      Rectangle residual,
      int rows,
      int width,
      Rectangle in,
      Rectangle out,
      float[] gain,
      float[] bias,
      Workspace work) {
    try {
      this.rows.invokeExact(x, residual, rows, width, in, out, gain, bias, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
