package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The first half of a backward pass: per row the sum of {@code h * xh} and, centred, of {@code h},
 * in the order of {@link RowSum}; {@code h = dy * g}, xh the normalised row.
 */
public final class GradientSumKernel {
  /**
   * What a kernel of this kind is specialised on; 0 bits are plain Java, and so is float64, which
   * is for checks.
   *
   * @param fromOutput whether x is the output: then xh is {@code (x - b) / g}
   * @param bias whether the output has a bias to be taken off
   * @param lanes the width of whole rows that are narrow and a multiple of the number of lanes; 0
   *     of others
   */
  public record Spec(
      boolean float64,
      int vectorBits,
      Memory x,
      Memory dy,
      boolean centred,
      boolean fromOutput,
      boolean gain,
      boolean bias,
      int lanes) {
    /** Where lanes do not stay in registers the width is no choice: no kernel is made twice. */
    public Spec {
      lanes = vectorBits < 256 || float64 || fromOutput ? 0 : lanes;
    }

    private String source() {
      if (vectorBits == 0 || float64) {
        return "ScalarGradientSum";
      }
      return lanes > 0 ? "VectorNarrowGradientSum" : "VectorGradientSum";
    }
  }

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class,
          Rectangle.class,
          Rectangle.class,
          int.class,
          int.class,
          int.class,
          Object.class,
          Object.class,
          Workspace.class);

  private final MethodHandle rows;
  private final MethodHandle superBlock;

  private GradientSumKernel(Spec spec) {
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), spec.source(), spec);
    rows = Kernels.method(kernel, "rows", ROWS);
    superBlock = spec.lanes() > 0 ? null : Kernels.method(kernel, "superBlock", ROWS);
  }

  /** The kernel of these choices. */
  public static GradientSumKernel of(Spec spec) {
    return Kernels.of(spec, GradientSumKernel.class, s -> new GradientSumKernel((Spec) s));
  }

  /**
   * Sums rows of at most one super-block, with {@code work.rstd} and {@code work.mean}. For row r
   * it leaves the sum of {@code h * xh} in {@code work.squares[r]} and, centred, that of h in
   * {@code work.sums[r]}.
   *
   * @param gain float[] or double[] by the arithmetic's type, null without a gain
   * @param bias likewise, of the output
   */
  public void rows(
      Rectangle x, Rectangle dy, int rows, int columns, Object gain, Object bias, Workspace work) {
    try {
      this.rows.invokeExact(x, dy, rows, 0, columns, gain, bias, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }

  /**
   * Adds one super-block of a longer row to the lanes {@code work.rowSquares} and, centred, {@code
   * work.rowSums}.
   *
   * @param column the super-block's first column, where its gain and bias begin
   */
  public void superBlock(
      Rectangle x,
      Rectangle dy,
      int column,
      int columns,
      Object gain,
      Object bias,
      Workspace work) {
    try {
      superBlock.invokeExact(x, dy, 1, column, columns, gain, bias, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
