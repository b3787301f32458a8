package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.util.Arrays;
import java.util.List;

/**
 * The lanes of row sums, and their trees: see {@link SumOrder}. In memory the lanes are in order,
 * or the 16 even ones come first: kernels that read two 16-bit elements as one int leave them that
 * way.
 */
public final class RowSum {
  private RowSum() {}

  /** The place of lane or column i if the even ones of every 32 come first. */
  public static int evenFirst(int i) {
    return i & -SumOrder.LANES | (i & 1) << 4 | (i & SumOrder.LANES - 1) >> 1;
  }

  /** Adds the lanes of a row's block to those of the blocks before it, and starts anew. */
  public static void closeBlock(Frame frame, int sums, int row) {
    for (int s = 0; s < sums; s++) {
      double[] lanes = frame.lanes[s];
      double[] totals = frame.totals[s];
      for (int l = row * SumOrder.LANES; l < (row + 1) * SumOrder.LANES; l++) {
        totals[l] += lanes[l];
        lanes[l] = 0.0;
      }
    }
  }

  /** Sets the lanes of rows to 0, those of the open block and those before it. */
  public static void zero(Frame frame, int sums, int rows) {
    for (int s = 0; s < sums; s++) {
      Arrays.fill(frame.lanes[s], 0, rows * SumOrder.LANES, 0.0);
      Arrays.fill(frame.totals[s], 0, rows * SumOrder.LANES, 0.0);
    }
  }

  /** Adds the lanes of the open block to those before it. */
  public static void addTotals(Frame frame, int sums, int row) {
    for (int s = 0; s < sums; s++) {
      double[] lanes = frame.lanes[s];
      double[] totals = frame.totals[s];
      for (int l = row * SumOrder.LANES; l < (row + 1) * SumOrder.LANES; l++) {
        lanes[l] += totals[l];
      }
    }
  }

  /** Computes the sums of rows from their lanes. */
  public static void trees(Frame frame, List<Stage.Sum> sums, int rows, boolean evenFirst) {
    trees(frame, sums, rows, left(evenFirst), evenFirst);
  }

  /**
   * The lower levels of the trees of rows whose kernel has added the upper levels.
   *
   * @param left the number of sums of a row: 2, 4, 8, 16 or 32
   * @param halves whether there are two such groups, 16 apart, because even lanes come first
   */
  public static void trees(Frame frame, List<Stage.Sum> sums, int rows, int left, boolean halves) {
    for (int s = 0; s < sums.size(); s++) {
      double[] into = frame.of(sums.get(s).number());
      for (int r = 0; r < rows; r++) {
        into[r] = tree(frame.lanes[s], r * SumOrder.LANES, left, halves);
      }
    }
  }

  /** The lanes of a tree, or of each of two. */
  private static int left(boolean evenFirst) {
    return evenFirst ? SumOrder.LANES / 2 : SumOrder.LANES;
  }

  /** The sum of the lanes of a row, in order from an index on; it changes them. */
  public static double tree(double[] lanes, int at) {
    return tree(lanes, at, SumOrder.LANES);
  }

  private static double tree(double[] lanes, int at, int left, boolean halves) {
    double sum = tree(lanes, at, left);
    return halves ? sum + tree(lanes, at + 16, left) : sum;
  }

  /** The lower levels of a tree, of which {@code left} sums remain. */
  private static double tree(double[] lanes, int at, int left) {
    return switch (left) {
      case 2 -> lanes[at] + lanes[at + 1];
      case 4 -> (lanes[at] + lanes[at + 2]) + (lanes[at + 1] + lanes[at + 3]);
      case 8 -> tree8(lanes, at);
      case 16 -> tree16(lanes, at);
      default -> {
        for (int j = at; j < at + 16; j++) {
          lanes[j] += lanes[j + 16];
        }
        yield tree16(lanes, at);
      }
    };
  }

  private static double tree16(double[] lanes, int at) {
    for (int j = at; j < at + 8; j++) {
      lanes[j] += lanes[j + 8];
    }
    return tree8(lanes, at);
  }

  private static double tree8(double[] lanes, int at) {
    double even = (lanes[at] + lanes[at + 4]) + (lanes[at + 2] + lanes[at + 6]);
    double odd = (lanes[at + 1] + lanes[at + 5]) + (lanes[at + 3] + lanes[at + 7]);
    return even + odd;
  }

  /** Begins the sums of a long row. */
  public static void open(Frame frame) {
    for (double[] lanes : frame.rowLanes) {
      Arrays.fill(lanes, 0.0);
    }
  }

  /** Adds the lanes of the first row, a super-block's, to those of the long row. */
  public static void closeSuperBlock(Frame frame, int sums) {
    for (int s = 0; s < sums; s++) {
      for (int l = 0; l < SumOrder.LANES; l++) {
        frame.rowLanes[s][l] += frame.lanes[s][l];
      }
    }
  }

  /** Stores the sums of the long row as numbers of the first row, by place. */
  public static void close(Frame frame, int[] sums) {
    for (int s = 0; s < sums.length; s++) {
      frame.ofRow[sums[s]][0] = tree(frame.rowLanes[s], 0);
    }
  }

  /** Stores the sums of the long row as numbers of the first row. */
  public static void close(Frame frame, List<Stage.Sum> sums, boolean evenFirst) {
    for (int s = 0; s < sums.size(); s++) {
      frame.of(sums.get(s).number())[0] = tree(frame.rowLanes[s], 0, left(evenFirst), evenFirst);
    }
  }
}
