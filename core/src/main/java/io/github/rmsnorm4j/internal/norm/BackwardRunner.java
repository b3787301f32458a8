package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/**
 * Runs a checked backward call on as many threads as pay.
 *
 * <p>Gradients of gain and bias are sums over rows: rows are added in blocks of 32, and blocks as a
 * tree. A thread gets whole sub-trees, whose number of blocks is a power of two. So the number of
 * threads changes no bit.
 */
public final class BackwardRunner {
  /** Rows that are added to the gradient of a parameter one after the other. */
  static final int BLOCK = 32;

  /** The most sub-trees: all of their sums are kept until the end. */
  static final int MAX_TREES = 64;

  /** Sub-trees for each thread, or half of that, so that threads finish at about one time. */
  private static final int TREES_PER_THREAD = 8;

  /** Bytes read and written that make one more thread worth its start. */
  private static final long BYTES_PER_THREAD = 1 << 20;

  /**
   * The gradients of gain and bias, as float[] or double[] like the arithmetic, of the width or
   * longer; null if they are not wanted, and without rows.
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

  private BackwardRunner() {}

  /** Writes dx and returns the sums of the parameters' gradients. */
  public static Result run(BackwardCall call, BackwardPlan plan, long rows, int threads) {
    double bytes = 12.0 * rows * call.choices().width();
    int useful = Math.clamp((long) (bytes / BYTES_PER_THREAD), 1, threads);
    int width = call.choices().width();
    try (LongColumns columns =
        plan.pieces == null
            ? null
            : new LongColumns(call.ofNorm(), call.gain(), call.bias(), width)) {
      return inOrder(plan, call, run(call, plan, columns, rows, useful));
    }
  }

  private static Result run(
      BackwardCall call, BackwardPlan plan, LongColumns columns, long rows, int useful) {
    if (useful == 1) {
      try (BackwardPass pass = BackwardPass.open(call, plan, columns)) {
        return pass.tree(0, rows);
      }
    }
    long treeRows = treeRows(call, rows, useful);
    int trees = (int) ((rows + treeRows - 1) / treeRows);
    Result[] results = new Result[trees];
    RowScheduler.run(
        trees,
        useful,
        (from, to) -> {
          try (BackwardPass pass = BackwardPass.open(call, plan, columns)) {
            for (int t = (int) from; t < to; t++) {
              results[t] = pass.tree(t * treeRows, Math.min(rows, (t + 1) * treeRows));
            }
          }
        });
    return sum(call, results);
  }

  /** Kernels of pairs leave the sums of even columns first. */
  private static Result inOrder(BackwardPlan plan, BackwardCall call, Result result) {
    plan.columns.undo(result.gain, call.choices().width());
    plan.columns.undo(result.bias, call.choices().width());
    return result;
  }

  /** Rows of a sub-tree: so many blocks, a power of two, that there are not too many sub-trees. */
  private static long treeRows(BackwardCall call, long rows, int threads) {
    int arrays = (call.gainGradient() ? 1 : 0) + (call.biasGradient() ? 1 : 0);
    long bytes = arrays * SumArrays.bytes(call.choices().width(), call.float64());
    int most = maxTrees(bytes, threads);
    long treeRows = BLOCK;
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

  private static Result sum(BackwardCall call, Result[] trees) {
    int width = call.choices().width();
    try (BlockSums gain = new BlockSums();
        BlockSums bias = new BlockSums()) {
      gain.begin(width, call.float64());
      bias.begin(width, call.float64());
      for (Result tree : trees) {
        if (call.gainGradient()) {
          gain.add(tree.gain);
        }
        if (call.biasGradient()) {
          bias.add(tree.bias);
        }
      }
      return new Result(gain.root(), bias.root());
    }
  }
}
