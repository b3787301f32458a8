package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/**
 * Runs a checked call that adds rows to sums for gain and bias.
 *
 * <p>Rows are added in blocks of 32, and blocks as a tree. A thread gets whole sub-trees, whose
 * number of blocks is a power of two. So the number of threads changes no bit.
 */
public final class SumsOverRows {
  /** The most sub-trees: all of their sums are kept until the end. */
  static final int MAX_TREES = 64;

  /** Sub-trees for each thread, or half of that, so that threads finish at about one time. */
  private static final int TREES_PER_THREAD = 8;

  /**
   * The sums for gain and bias, as float[] or double[] like the arithmetic, of the width or longer;
   * null if they are not wanted, and without rows.
   */
  public record Result(Object gain, Object bias) {
    /** Returns the arrays to the pool, after they were read. */
    public void giveBack() {
      if (gain != null) {
        SumArrays.SHARED.giveBack(gain);
      }
      if (bias != null) {
        SumArrays.SHARED.giveBack(bias);
      }
    }
  }

  private final Call call;
  private final Plan plan;
  private final int width;
  private final boolean gain;
  private final boolean bias;

  private SumsOverRows(Call call, Plan plan) {
    this.call = call;
    this.plan = plan;
    BackwardFormula formula = (BackwardFormula) call.formula();
    gain = formula.gainGradient();
    bias = formula.biasGradient();
    width = call.choices().width();
  }

  /** Does all rows, and returns the sums that are wanted. */
  public static Result run(Call call, Plans plans, long rows, int threads) {
    SumsOverRows sums = new SumsOverRows(call, plans.of(call, rows));
    Result result = sums.run(rows, Runner.useful(call, rows, threads));
    sums.order(result.gain);
    sums.order(result.bias);
    return result;
  }

  private void order(Object sums) {
    if (sums != null) {
      plan.compiled.order(sums, width);
    }
  }

  private Result run(long rows, int threads) {
    if (threads == 1) {
      try (Worker worker = plan.compiled.open(call)) {
        return tree(worker, 0, rows);
      }
    }
    long treeRows = treeRows(rows, threads);
    int trees = (int) ((rows + treeRows - 1) / treeRows);
    Result[] results = new Result[trees];
    RowScheduler.run(
        trees,
        threads,
        (from, to) -> {
          try (Worker worker = plan.compiled.open(call)) {
            for (int t = (int) from; t < to; t++) {
              results[t] = tree(worker, t * treeRows, Math.min(rows, (t + 1) * treeRows));
            }
          }
        });
    return sum(results);
  }

  /** Does rows that begin a sub-tree, and returns their sums. */
  private Result tree(Worker worker, long from, long to) {
    Object[] sums = new Object[Tensor.Access.COLUMN.places()];
    try (BlockSums ofGain = gain ? new BlockSums(width, call.float64()) : null;
        BlockSums ofBias = bias ? new BlockSums(width, call.float64()) : null) {
      for (long row = from; row < to; row += SumOrder.ROWS) {
        sums[Backward.GAIN_GRADIENT.place()] = gain ? ofGain.open() : null;
        sums[Backward.BIAS_GRADIENT.place()] = bias ? ofBias.open() : null;
        Runner.rows(call, plan, worker, row, Math.min(to, row + SumOrder.ROWS), sums);
        if (gain) {
          ofGain.add(sums[Backward.GAIN_GRADIENT.place()]);
        }
        if (bias) {
          ofBias.add(sums[Backward.BIAS_GRADIENT.place()]);
        }
      }
      return new Result(root(ofGain), root(ofBias));
    }
  }

  private static Object root(BlockSums sums) {
    return sums == null ? null : sums.root();
  }

  /** Rows of a sub-tree: so many blocks, a power of two, that there are not too many sub-trees. */
  private long treeRows(long rows, int threads) {
    int arrays = (gain ? 1 : 0) + (bias ? 1 : 0);
    int most = maxTrees(arrays * SumArrays.bytes(width, call.float64()), threads);
    long treeRows = SumOrder.ROWS;
    while ((rows + treeRows - 1) / treeRows > most) {
      treeRows *= 2;
    }
    return treeRows;
  }

  /**
   * The number of sub-trees whose sums, of so many bytes each, take half of the memory for arrays.
   * The other half is for the sub-trees that threads work on. Each thread needs at least two, or
   * some would have no work.
   */
  static int maxTrees(long bytes, int threads) {
    long fit = bytes == 0 ? MAX_TREES : SumArrays.MAX_BYTES / 2 / bytes;
    long wanted = Math.clamp(fit, 2L * threads, (long) TREES_PER_THREAD * threads);
    return (int) Math.min(MAX_TREES, wanted);
  }

  private Result sum(Result[] trees) {
    try (BlockSums ofGain = gain ? new BlockSums(width, call.float64()) : null;
        BlockSums ofBias = bias ? new BlockSums(width, call.float64()) : null) {
      for (Result tree : trees) {
        if (gain) {
          ofGain.add(tree.gain);
        }
        if (bias) {
          ofBias.add(tree.bias);
        }
      }
      return new Result(root(ofGain), root(ofBias));
    }
  }
}
