package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.FirstElement;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.Strips;
import java.util.Arrays;

/**
 * A stage in ordinary loops, which the JIT compiles to vectors by itself. Loops access arrays of
 * the caller where they can. Otherwise rows are copied, a strip of elements at a time.
 */
final class LoopKernel implements Kernel {
  private final boolean ofRows;
  private final boolean hasElements;
  private final boolean float64;
  private final boolean mayReachRows;
  private final boolean mayReachColumns;
  private final boolean keeps;
  private final Value[] firsts;

  /** Whether elements read a value at element 0 of their row. */
  private final boolean usesFirst;

  private final LoopStrips strips;
  private final Loops loops;

  /** The places of the numbers that its row sums become. */
  private final int[] sums;

  /** The lanes of all row sums. */
  private final int lanes;

  /** The slots of the rows, and of the columns, that it accesses. */
  private final int[] rows;

  private final int[] columns;

  /** The kernel of a stage; null if a frame has too few arrays for it. */
  static LoopKernel of(Stage stage) {
    LoopPlan plan = new LoopPlan(stage);
    boolean fits =
        plan.arrays().size() <= Frame.MAX_STRIPS && plan.firsts().size() <= Frame.MAX_FIRSTS;
    return fits ? new LoopKernel(plan) : null;
  }

  private LoopKernel(LoopPlan plan) {
    Stage stage = plan.stage();
    ofRows = stage.isOfRows();
    hasElements = stage.hasElements();
    float64 = plan.float64();
    firsts = plan.firsts().toArray(Value[]::new);
    usesFirst = stage.rowValues().stream().anyMatch(LoopKernel::usesFirst);
    keeps = stage.statements().stream().anyMatch(Stage.Keep.class::isInstance);
    mayReachRows = plan.mayReachRows();
    mayReachColumns = plan.mayReachColumns();
    sums = stage.sums().stream().mapToInt(sum -> sum.number().place()).toArray();
    lanes = sums.length * SumOrder.LANES;
    rows = plan.rows();
    columns = plan.columns();
    loops = new Loops(plan, new LoopClass(plan).define());
    strips = new LoopStrips(plan, loops);
  }

  private static boolean usesFirst(Value value) {
    return value.kind() == Value.Kind.FIRST
        || value.operands().stream().anyMatch(LoopKernel::usesFirst);
  }

  @Override
  public void run(Frame frame, int rows, int from, int to) {
    if (ofRows) {
      frame.outOfRange = !loops.numbers(frame, 0, rows);
      return;
    }
    strips.prepare(frame);
    int n = to - from;
    switch (way(frame, from, to)) {
      case SUMS_AT_ONCE -> {
        begin(frame, rows);
        loops.sums(frame, rows, to);
      }
      case IN_PLACE -> {
        begin(frame, rows);
        loops.direct(frame, true, 0, rows, at(frame, 0) + from, column(frame) + from, n);
      }
      case COLUMNS_COPIED -> {
        begin(frame, rows);
        strips.columns(frame, from, n);
        loops.direct(frame, false, 0, rows, at(frame, 0) + from, 0, n);
        strips.sumsOfColumns(frame, from, n);
      }
      case SUMS_IN_PLACE -> {
        strips.columns(frame, from, n);
        rowByRow(frame, rows, from, to, true);
      }
      case ROW_BY_ROW -> rowByRow(frame, rows, from, to, false);
    }
  }

  /** How rows are done. */
  enum Way {
    /** One loop sums all rows: each is one block of whole lanes. */
    SUMS_AT_ONCE,
    /** One loop does all rows, where they are. */
    IN_PLACE,
    /** The same with copies of columns, which fit in a strip. */
    COLUMNS_COPIED,
    /** Terms of rows that fit in a strip are saved, and then added. */
    SUMS_IN_PLACE,
    /** Each row by itself, in strips. */
    ROW_BY_ROW
  }

  /** The way for elements of the rows of a frame. */
  Way way(Frame frame, int from, int to) {
    boolean ordered = mayReachRows && isInOneOrder(frame);
    if (!hasElements || usesFirst) {
      return Way.ROW_BY_ROW;
    } else if (sumsAtOnce(from, to) && isInArrays(frame)) {
      return Way.SUMS_AT_ONCE;
    } else if (ordered && mayReachColumns && areColumnsWide(frame)) {
      return Way.IN_PLACE;
    } else if (ordered && !float64 && to - from <= Strips.STRIP && !loops.hasLanes()) {
      return lanes > 0 ? Way.SUMS_IN_PLACE : Way.COLUMNS_COPIED;
    }
    return Way.ROW_BY_ROW;
  }

  /** Whether the sums of rows are those of one block of whole lanes. */
  private boolean sumsAtOnce(int from, int to) {
    boolean whole = from == 0 && to <= SumOrder.BLOCK && to % SumOrder.LANES == 0;
    return loops.hasLanes() && whole;
  }

  /**
   * Does each row by itself.
   *
   * @param oneStrip whether rows are summed where they are, and strips have their columns
   */
  private void rowByRow(Frame frame, int rows, int from, int to, boolean oneStrip) {
    boolean inPlace = mayReachRows && !float64 && isInOneOrder(frame);
    for (int r = 0; r < rows; r++) {
      beginRow(frame, r);
      int at = inPlace ? at(frame, r) : -1;
      Arrays.fill(frame.sumLanes, 0, lanes, 0.0);
      if (oneStrip) {
        strips.reach(frame, r, to - from, at + from);
      } else if (lanes > 0) {
        sums(frame, r, from, to, at);
      } else if (hasElements) {
        strips.run(frame, r, from, to, at);
      }
      for (int s = 0; s < sums.length; s++) {
        frame.ofRow[sums[s]][r] = RowSum.tree(frame.sumLanes, s * SumOrder.LANES);
      }
    }
  }

  private void begin(Frame frame, int rows) {
    for (int r = 0; keeps && r < rows; r++) {
      beginRow(frame, r);
    }
  }

  /** Keeps the numbers that the elements of a row read. */
  private void beginRow(Frame frame, int row) {
    for (int k = 0; k < firsts.length; k++) {
      frame.firsts[k] = FirstElement.of(firsts[k].a(), frame, row);
    }
    if (keeps) {
      loops.numbers(frame, row, row + 1);
    }
  }

  /** Whether all rows are in arrays, with the same index. */
  private boolean isInOneOrder(Frame frame) {
    boolean is = isInArrays(frame);
    for (int slot : rows) {
      is &= frame.offset[slot] == frame.offset[rows[0]];
      is &= frame.stride[slot] == frame.stride[rows[0]];
    }
    return is;
  }

  /** Whether loops can read the columns where they are: float32 columns must be widened. */
  private boolean areColumnsWide(Frame frame) {
    boolean are = true;
    for (int slot : columns) {
      are &= frame.base[slot] instanceof double[];
    }
    return are;
  }

  /** Whether loops can read the rows in the caller's arrays. */
  private boolean isInArrays(Frame frame) {
    boolean are = true;
    for (int slot : rows) {
      Object base = frame.base[slot];
      are &= float64 ? base instanceof double[] : base instanceof float[];
    }
    return are;
  }

  private int at(Frame frame, int row) {
    long at = frame.offset[rows[0]] + row * frame.stride[rows[0]];
    return (int) (at >> (float64 ? 3 : 2));
  }

  private int column(Frame frame) {
    return columns.length == 0 ? 0 : (int) (frame.offset[columns[0]] >> 3);
  }

  @Override
  public void superBlock(Frame frame, int n) {
    strips.prepare(frame);
    beginRow(frame, 0);
    Arrays.fill(frame.sumLanes, 0, lanes, 0.0);
    boolean inPlace = mayReachRows && !float64 && isInOneOrder(frame);
    sums(frame, 0, 0, n, inPlace ? at(frame, 0) : -1);
    for (int s = 0; s < sums.length; s++) {
      int at = s * SumOrder.LANES;
      System.arraycopy(frame.sumLanes, at, frame.lanes[s], 0, SumOrder.LANES);
    }
    RowSum.closeSuperBlock(frame, sums.length);
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, sums);
  }

  /**
   * Leaves the lanes of a row, which are 0 before.
   *
   * @param at the index of element 0 in all arrays with rows; -1 to copy rows
   */
  private void sums(Frame frame, int row, int from, int to, int at) {
    if (to - from <= SumOrder.BLOCK) {
      block(frame, row, from, to, at);
      return;
    }
    Arrays.fill(frame.sumTotals, 0, lanes, 0.0);
    for (int i = from; i < to; i += SumOrder.BLOCK) {
      block(frame, row, i, Math.min(to, i + SumOrder.BLOCK), at);
      for (int l = 0; l < lanes; l++) {
        frame.sumTotals[l] += frame.sumLanes[l];
        frame.sumLanes[l] = 0.0;
      }
    }
    System.arraycopy(frame.sumTotals, 0, frame.sumLanes, 0, lanes);
  }

  /** Adds elements of one block to the lanes. */
  private void block(Frame frame, int row, int from, int to, int at) {
    int whole = from;
    if (loops.hasLanes() && to - from >= SumOrder.LANES && isInArrays(frame)) {
      whole += to - from & -SumOrder.LANES;
      loops.lanes(frame, row, from, whole, true);
    }
    if (whole < to) {
      strips.run(frame, row, whole, to, at);
    }
  }
}
