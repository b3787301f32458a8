package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The second half of a backward pass: {@code dx = ((h - meanGradient) - xh * meanProduct) * rstd},
 * and the rows' share of the gradients of gain and bias.
 */
public final class GradientKernel {
  /**
   * What a kernel of this kind is specialised on; 0 bits are plain Java, and so is float64, which
   * is for checks.
   *
   * @param fromOutput whether x is the output: then xh is {@code (x - b) / g}
   * @param bias whether the output has a bias to be taken off
   * @param residual whether the gradient of the residual is added to dx
   * @param gainGradient whether {@code dy * xh} is added up
   * @param biasGradient whether dy is added up
   * @param narrow whether rows are whole, narrow and a multiple of the number of lanes
   */
  public record Spec(
      boolean float64,
      int vectorBits,
      Memory x,
      Memory dy,
      Memory dx,
      Memory residualMemory,
      boolean centred,
      boolean fromOutput,
      boolean gain,
      boolean bias,
      boolean residual,
      boolean gainGradient,
      boolean biasGradient,
      boolean narrow) {
    /** What changes nothing is no choice: no kernel is made twice. */
    public Spec {
      narrow &= vectorBits >= 256 && !float64 && !fromOutput;
    }

    private String source() {
      if (vectorBits == 0 || float64) {
        return "ScalarGradient";
      }
      return narrow ? "VectorNarrowGradient" : "VectorGradient";
    }
  }

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class,
          Rectangle.class,
          Rectangle.class,
          Rectangle.class,
          Rectangle.class,
          int.class,
          int.class,
          int.class,
          Object.class,
          Object.class,
          Object.class,
          Object.class,
          Workspace.class);

  private final MethodHandle rows;

  private GradientKernel(Spec spec) {
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), spec.source(), spec);
    rows = Kernels.method(kernel, "rows", ROWS);
  }

  /** The kernel of these choices. */
  public static GradientKernel of(Spec spec) {
    return Kernels.of(spec, GradientKernel.class, s -> new GradientKernel((Spec) s));
  }

  /**
   * Writes columns of a rectangle of rows, with {@code rstd}, {@code mean}, {@code meanProduct} and
   * {@code meanGradient} of the workspace.
   *
   * @param dx may be where dy or the residual is
   * @param column the rectangles' first column, where their gain and bias begin
   * @param gain float[] or double[] by the arithmetic's type, null without a gain
   * @param bias likewise, of the output
   * @param dgain takes the rows' share of the gain's gradient, added in the order of rows
   * @param dbias likewise of the bias
   */
  public void rows(
      Rectangle x,
      Rectangle dy,
      Rectangle dx,
      Rectangle residual,
      int rows,
      int column,
      int columns,
      Object gain,
      Object bias,
      Object dgain,
      Object dbias,
      Workspace work) {
    try {
      this.rows.invokeExact(
          x, dy, dx, residual, rows, column, columns, gain, bias, dgain, dbias, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
