package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A kernel that was made from descriptions, with the Vector API. A kernel that sums rows can run
 * another stage on other rows in the same loop.
 *
 * <p>Its methods are called through method handles that are fields of an object, not constants. The
 * JIT does not inline such a call. Otherwise it would inline all kernels of a norm into the loop
 * over rows, exceed its node budget, and box their vectors.
 */
public final class VectorKernel implements Kernel {
  private static final ConcurrentHashMap<Target, VectorKernel> MADE = new ConcurrentHashMap<>();

  /** Targets whose loop is too large for the JIT. */
  private static final Set<Target> TOO_LARGE = ConcurrentHashMap.newKeySet();

  /** Up to so many rows, numbers of rows are computed one after the other, and not as vectors. */
  private static final int FEW_ROWS = 2;

  private final List<Stage.Sum> sums;
  private final int sumCount;
  private final boolean evenFirst;

  /** The width for which it is made, 0 for any. */
  private final int width;

  private final int doubles;

  /** The number of sums of a tree that a kernel for one width leaves. */
  private final int left;

  /** The numbers of rows that a stage of rows reads. */
  private final int[] given;

  /** The rows that the stage with sums stores. */
  private final Set<Tensor> stored;

  private final MethodHandle elements;
  private final MethodHandle tail;
  private final MethodHandle secondTail;
  private final MethodHandle rows;

  private VectorKernel(Target target, KernelClass kernel) {
    sums = target.stages().getFirst().sums();
    sumCount = sums.size();
    stored = target.stages().getFirst().written().keySet();
    width = target.width();
    doubles = target.doubles();
    left = doubles * (target.leavesOneVector() ? 1 : target.sweeps());
    evenFirst = target.pairs(target.stages().getFirst());
    MethodHandles.Lookup lookup = kernel.define();
    given = target.rowNumbers();
    boolean hasElements = target.stages().getFirst().hasElements();
    boolean hasTails = width == 0;
    rows = target.hasVectorsOfRows() ? method(lookup, "rows", 1, 1) : null;
    elements = hasElements ? method(lookup, "elements", 2, 4) : null;
    tail = hasTails ? method(lookup, "tail0", 1, 3) : null;
    secondTail = hasTails && target.stages().size() > 1 ? method(lookup, "tail1", 1, 3) : null;
  }

  private static MethodHandle method(
      MethodHandles.Lookup lookup, String name, int frames, int ints) {
    return HiddenClass.method(lookup, name, void.class, frames, ints);
  }

  /** The kernel of a target, made once. */
  static VectorKernel of(Target target) {
    VectorKernel kernel = MADE.get(target);
    return kernel != null ? kernel : kept(target, new KernelClass(target));
  }

  /** Whether it stores rows while it sums others. */
  boolean sumsStore(Tensor rows) {
    return stored.contains(rows);
  }

  /** The kernel of a target; null if its loop is too large for the JIT. */
  static VectorKernel ifItFits(Target target) {
    VectorKernel made = MADE.get(target);
    if (made != null || TOO_LARGE.contains(target)) {
      return made;
    }
    KernelClass kernel = new KernelClass(target);
    if (!Schedule.fits(kernel.calls())) {
      TOO_LARGE.add(target);
      return null;
    }
    return kept(target, kernel);
  }

  /** Not made in the lock of the map, where a thread that gets no memory leaves others waiting. */
  private static VectorKernel kept(Target target, KernelClass kernel) {
    VectorKernel made = new VectorKernel(target, kernel);
    VectorKernel first = MADE.putIfAbsent(target, made);
    return first == null ? made : first;
  }

  @Override
  public void run(Frame frame, int rows, int from, int to) {
    requireWidth(from, to);
    try {
      if (this.rows != null && rows > FEW_ROWS) {
        fillLastVector(frame, rows);
        this.rows.invokeExact(frame, rows);
      } else if (elements == null) {
        tail.invokeExact(frame, rows, 0, 0);
      } else if (sumCount == 0) {
        int whole = (to - from) & -SumOrder.LANES;
        if (whole > 0) {
          elements.invokeExact(frame, frame, 0, rows, from, whole);
        }
        if (from + whole < to) {
          tail.invokeExact(frame, rows, from + whole, to);
        }
      } else {
        sums(frame, frame, rows, to);
      }
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  /**
   * Sums whole rows of the first frame while it runs the second stage on as many rows of the second
   * frame.
   */
  public void run(Frame frame, Frame second, int rows, int width) {
    requireWidth(0, width);
    try {
      sums(frame, second, rows, width);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  private void sums(Frame frame, Frame second, int rows, int n) throws Throwable {
    if (width > 0) {
      elements.invokeExact(frame, second, 0, rows, 0, n);
      RowSum.trees(frame, sums, rows, left, evenFirst);
      return;
    }
    lanes(frame, second, rows, n);
    RowSum.trees(frame, sums, rows, evenFirst);
  }

  /** Leaves the lanes of each row; rows have at most a super-block of elements. */
  private void lanes(Frame frame, Frame second, int rows, int n) throws Throwable {
    int whole = n & -SumOrder.LANES;
    if (whole == 0 || whole >= SumOrder.BLOCK) {
      RowSum.zero(frame, sumCount, rows);
    }
    if (whole > 0) {
      elements.invokeExact(frame, second, 0, rows, 0, whole);
    }
    if (whole < n) {
      tail.invokeExact(frame, rows, whole, n);
      if (secondTail != null) {
        secondTail.invokeExact(second, rows, whole, n);
      }
    }
    if (whole >= SumOrder.BLOCK) {
      for (int r = 0; r < rows; r++) {
        RowSum.addTotals(frame, sumCount, r);
      }
    }
  }

  /** Refuses other elements than the whole width in a kernel for one width. */
  private void requireWidth(int from, int to) {
    if (width > 0 && (from != 0 || to != width)) {
      throw new IllegalArgumentException(
          "elements " + from + " to " + to + ", the kernel is for rows of " + width);
    }
  }

  @Override
  public void superBlock(Frame frame, int n) {
    requireWidth(0, n);
    try {
      lanes(frame, frame, 1, n);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
    RowSum.closeSuperBlock(frame, sumCount);
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, sums, evenFirst);
  }

  /**
   * The last vector of rows is filled up with copies of the last row, so that they do not change
   * whether the vector is in range.
   */
  private void fillLastVector(Frame frame, int rows) {
    for (int number : given) {
      double[] numbers = frame.ofRow[number];
      for (int r = rows; r % doubles != 0; r++) {
        numbers[r] = numbers[rows - 1];
      }
    }
  }
}
