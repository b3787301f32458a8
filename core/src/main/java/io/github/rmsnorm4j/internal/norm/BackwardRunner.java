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
  private static final int MAX_TREES = 64;

  /** Bytes read and written that make one more thread worth its start. */
  private static final long BYTES_PER_THREAD = 1 << 20;

  /** The gradients of gain and bias, as float[] or double[] by the arithmetic's type, or null. */
  public record Result(Object gain, Object bias) {}

  private BackwardRunner() {}

  /** Writes dx and returns the sums of the parameters' gradients. */
  public static Result run(BackwardCall call, long rows, int threads) {
    BackwardPlan plan = new BackwardPlan(call);
    long blocks = (rows + BLOCK - 1) / BLOCK;
    long tree = 1;
    while ((blocks + tree - 1) / tree > MAX_TREES) {
      tree *= 2;
    }
    int trees = (int) ((blocks + tree - 1) / tree);
    long treeRows = tree * BLOCK;
    Result[] results = new Result[trees];
    double bytes = 12.0 * rows * call.choices().width();
    int useful = Math.clamp((long) (bytes / BYTES_PER_THREAD), 1, threads);
    RowScheduler.run(
        trees,
        useful,
        (from, to) -> {
          try (BackwardPass pass = new BackwardPass(call, plan)) {
            for (int t = (int) from; t < to; t++) {
              results[t] = pass.tree(t * treeRows, Math.min(rows, (t + 1) * treeRows));
            }
          }
        });
    BlockSums gain = new BlockSums(call.choices().width(), call.float64());
    BlockSums bias = new BlockSums(call.choices().width(), call.float64());
    for (Result result : results) {
      if (call.gainGradient()) {
        gain.close(result.gain);
      }
      if (call.biasGradient()) {
        bias.close(result.bias);
      }
    }
    return new Result(gain.root(), bias.root());
  }
}
