package io.github.rmsnorm4j.internal.kernel;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The first half of a norm: row sums, in the order of {@link RowSum}.
 *
 * <p>A row lies at {@code offset} bytes into {@code base} (an absolute address where base is null).
 * Kernels trust what they are given; the public API has checked it.
 */
public final class StatisticKernel {
  /** Rows up to this width are narrow: many of them, and few steps in each. */
  public static final int NARROW = 256;

  /**
   * What a kernel of this kind is specialised on; 0 bits are plain Java. Narrow rows have a kernel
   * of their own, so that the JIT compiles its loops for few steps.
   */
  public record Spec(
      boolean float64, int vectorBits, Memory memory, boolean centred, boolean narrow) {}

  private static final MethodType ROWS =
      MethodType.methodType(
          void.class, Object.class, long.class, long.class, int.class, int.class, Workspace.class);
  private static final MethodType SUPER_BLOCK =
      MethodType.methodType(
          void.class, Object.class, long.class, int.class, double.class, Workspace.class);

  private final MethodHandle rows;
  private final MethodHandle superBlock;

  private StatisticKernel(Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarStatistic" : "VectorStatistic";
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), source, spec);
    rows = Kernels.method(kernel, "rows", ROWS);
    superBlock = Kernels.method(kernel, "superBlock", SUPER_BLOCK);
  }

  /** The kernel of these choices. */
  public static StatisticKernel of(Spec spec) {
    return Kernels.of(spec, StatisticKernel.class, s -> new StatisticKernel((Spec) s));
  }

  /**
   * Sums rows of at most one super-block. For row r it leaves the sum of squares in {@code
   * work.squares[r]}; a centred kernel takes the row's first element x0 off every element first,
   * and leaves x0 in {@code work.shift[r]} and the sum of the differences in {@code work.sums[r]}.
   */
  public void rows(Object base, long offset, long stride, int rows, int width, Workspace work) {
    try {
      this.rows.invokeExact(base, offset, stride, rows, width, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }

  /**
   * Adds one super-block of a longer row to the lanes {@code work.rowSquares} and, if centred, with
   * {@code shift} taken off every element, {@code work.rowSums}.
   */
  public void superBlock(Object base, long offset, int length, double shift, Workspace work) {
    try {
      superBlock.invokeExact(base, offset, length, shift, work);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
