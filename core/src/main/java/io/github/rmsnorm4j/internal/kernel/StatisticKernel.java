package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The first half of a norm: row sums, in the order of {@link RowSum}.
 *
 * <p>Kernels trust what they are given; the public API has checked it.
 */
public final class StatisticKernel {
  /** Rows up to this width are narrow: many of them, and few steps in each. */
  private static final int NARROW = 256;

  /**
   * How wide rows are that a kernel is made for.
   *
   * @param narrow whether the JIT is to compile loops of few steps; otherwise rows may be of any
   *     width, or pieces of rows
   * @param lanes the width itself where rows are narrow and a multiple of the number of lanes, so
   *     that these stay in registers; otherwise 0
   */
  public record Width(boolean narrow, int lanes) {
    /** That of rows which are summed up to an element. */
    public static Width of(int width, int part) {
      boolean narrow = part <= NARROW && width <= RowSum.SUPER_BLOCK;
      return new Width(narrow, narrow && part % RowSum.LANES == 0 ? part : 0);
    }
  }

  /**
   * What a kernel of this kind is specialised on; 0 bits are plain Java.
   *
   * @param residual where the residual lies that rows are added to on the way; null for none, and
   *     in float64
   */
  public record Spec(
      boolean float64,
      int vectorBits,
      Memory memory,
      Memory residual,
      boolean centred,
      Width width) {

    /** Where lanes do not stay in registers the width is no choice: no kernel is made twice. */
    public Spec {
      if (vectorBits < 256 || float64 || residual != null) {
        width = new Width(width.narrow(), 0);
      }
    }

    private String source() {
      if (vectorBits == 0) {
        return "ScalarStatistic";
      }
      return width.lanes() > 0 ? "VectorNarrow" : "VectorStatistic";
    }
  }

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class, Rectangle.class, Rectangle.class, int.class, int.class, Workspace.class);
  private static final MethodType SUPER_BLOCK =
      MethodType.methodType(void.class, Rectangle.class, int.class, double.class, Workspace.class);

  private final MethodHandle rows;
  private final MethodHandle superBlock;

  private StatisticKernel(Spec spec) {
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), spec.source(), spec);
    rows = Kernels.method(kernel, "rows", ROWS);
    superBlock = spec.width().narrow() ? null : Kernels.method(kernel, "superBlock", SUPER_BLOCK);
  }

  /** The kernel of these choices. */
  public static StatisticKernel of(Spec spec) {
    return Kernels.of(spec, StatisticKernel.class, s -> new StatisticKernel((Spec) s));
  }

  /**
   * Sums rows of at most one super-block. For row r it leaves the sum of squares in {@code
   * work.squares[r]}; a centred kernel takes the row's first element x0 off every element first,
   * and leaves x0 in {@code work.shift[r]} and the sum of the differences in {@code work.sums[r]}.
   *
   * @param residual what each row is added to first, element by element; takes the sum, and all
   *     that is said here is of the sum. Null without one
   */
  public void rows(Rectangle x, Rectangle residual, int rows, int width, Workspace work) {
    try {
      this.rows.invokeExact(x, residual, rows, width, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }

  /**
   * Adds one super-block of a longer row to the lanes {@code work.rowSquares} and, if centred, with
   * {@code shift} taken off every element, {@code work.rowSums}. There is no residual, and the
   * kernel is one for any width.
   */
  public void superBlock(Rectangle x, int length, double shift, Workspace work) {
    try {
      superBlock.invokeExact(x, length, shift, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
