package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.parallel.RowScheduler;

/**
 * Runs a checked backward call on as many threads as pay.
 *
 * <p>Gradients of gain and bias are sums over rows. They are added up in blocks of 32 rows and the
 * blocks as a tree, so that neither threads nor their number change a bit: a thread is given whole
 * sub-trees, as many blocks as are a power of two.
 */
public final class BackwardRunner {
  /** Rows whose share of a parameter's gradient is added up one after the other. */
  static final int BLOCK = 32;

  /** Sub-trees at most: their sums are all kept until the end. */
  static final int MAX_TREES = 64;

  /** Sub-trees for each thread, or half of that: enough for all to be done at about one time. */
  private static final int TREES_PER_THREAD = 8;

  /** Bytes read and written that make one more thread worth its start. */
  private static final long BYTES_PER_THREAD = 1 << 20;

  /**
   * The gradients of gain and bias, as float[] or double[] by the arithmetic's type, of the width
   * or longer; null where they are not wanted, and without rows.
   */
  public record Result(Object gain, Object bias) {
    /** To be called when they are read: the arrays are for other calls then. */
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
    if (useful == 1) {
      try (BackwardPass pass = BackwardPass.open(call, plan)) {
        return inOrder(plan, call, pass.tree(0, rows));
      }
    }
    long treeRows = treeRows(call, rows, useful);
    int trees = (int) ((rows + treeRows - 1) / treeRows);
    Result[] results = new Result[trees];
    RowScheduler.run(
        trees,
        useful,
        (from, to) -> {
          try (BackwardPass pass = BackwardPass.open(call, plan)) {
            for (int t = (int) from; t < to; t++) {
              results[t] = pass.tree(t * treeRows, Math.min(rows, (t + 1) * treeRows));
            }
          }
        });
    return inOrder(plan, call, sum(call, results));
  }

  /** Kernels of pairs leave the numbers of even columns first. */
  private static Result inOrder(BackwardPlan plan, BackwardCall call, Result result) {
    plan.columns.undo(result.gain, call.choices().width());
    plan.columns.undo(result.bias, call.choices().width());
    return result;
  }

  /** Rows of a sub-tree: a power of two blocks, so that there are no more sub-trees than may be. */
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
   * Sub-trees whose sums, of so many bytes each, take half the room for arrays; the other half is
   * for those that threads are at. Two for each thread must be, or some would have nothing to do.
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
