package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Runs a checked call that adds rows to sums for gain and bias.
 *
 * <p>Rows are added in blocks of 32, and blocks as a tree. A thread gets whole sub-trees, whose
 * number of blocks is a power of two. So the number of threads changes no bit.
 */
public final class SumsOverRows implements AutoCloseable {
  /** The most sub-trees: all of their sums are kept until the end. */
  static final int MAX_TREES = 64;

  /** Sub-trees for each thread, or half of that, so that threads finish at about one time. */
  private static final int TREES_PER_THREAD = 8;

  /** The sums of a sub-tree; null where they are not wanted. */
  private record Tree(@Nullable Object gain, @Nullable Object bias) {}

  private static final Pool<SumsOverRows> POOL = new Pool<>(SumsOverRows::new);

  private final BlockSums ofGain = new BlockSums();
  private final BlockSums ofBias = new BlockSums();

  /** By place: the sums of the block that rows are added to. */
  private final @Nullable Object[] sums = new Object[Tensor.Access.COLUMN.places()];

  private int width;

  /** Whether the sums for the gain are wanted, and those for the bias. */
  private boolean gain;

  private boolean bias;

  /** The sums of all rows. */
  private @Nullable Object gainSum;

  private @Nullable Object biasSum;

  private SumsOverRows() {}

  /** Does all rows. The caller closes the sums after it has read those that it wants. */
  public static SumsOverRows run(Call call, Plans plans, long rows, int threads) {
    Plan plan = plans.of(call, rows);
    SumsOverRows sums = open(call);
    boolean done = false;
    try {
      sums.run(call, plan, rows, Runner.useful(call, rows, threads));
      done = true;
    } finally {
      if (!done) {
        sums.close();
      }
    }
    return sums;
  }

  /**
   * The sums for the gain, as float[] or double[] like the arithmetic, of the width or longer; null
   * if they are not wanted, and without rows.
   */
  public @Nullable Object gain() {
    return gainSum;
  }

  /** Likewise for the bias. */
  public @Nullable Object bias() {
    return biasSum;
  }

  /** The sums of this thread. No other call uses them until they are closed. */
  private static SumsOverRows open(Call call) {
    SumsOverRows sums = POOL.take();
    BackwardFormula formula = (BackwardFormula) call.formula().whole();
    sums.gain = formula.gainGradient();
    sums.bias = formula.biasGradient();
    sums.width = call.choices().width();
    sums.ofGain.begin(sums.width, call.float64());
    sums.ofBias.begin(sums.width, call.float64());
    return sums;
  }

  @Override
  public void close() {
    giveBack(gainSum);
    giveBack(biasSum);
    gainSum = null;
    biasSum = null;
    ofGain.close();
    ofBias.close();
    Arrays.fill(sums, null);
    POOL.giveBack(this);
  }

  private static void giveBack(@Nullable Object sums) {
    if (sums != null) {
      SumArrays.SHARED.giveBack(sums);
    }
  }

  private void run(Call call, Plan plan, long rows, int threads) {
    if (threads == 1) {
      try (Worker worker = plan.compiled.open(call)) {
        tree(call, plan, worker, 0, rows);
      }
    } else {
      trees(call, plan, rows, threads);
    }
    gainSum = inOrder(plan, ofGain.root());
    biasSum = inOrder(plan, ofBias.root());
  }

  private @Nullable Object inOrder(Plan plan, @Nullable Object sums) {
    if (sums != null) {
      plan.compiled.order(sums, width);
    }
    return sums;
  }

  private void trees(Call call, Plan plan, long rows, int threads) {
    long treeRows = treeRows(call.float64(), rows, threads);
    Tree[] trees = new Tree[(int) ((rows + treeRows - 1) / treeRows)];
    RowScheduler.run(
        trees.length,
        threads,
        (from, to) -> {
          try (Worker worker = plan.compiled.open(call);
              SumsOverRows ofThread = open(call)) {
            for (int t = (int) from; t < to; t++) {
              ofThread.tree(call, plan, worker, t * treeRows, Math.min(rows, (t + 1) * treeRows));
              trees[t] = new Tree(ofThread.ofGain.root(), ofThread.ofBias.root());
            }
          }
        });
    for (Tree tree : trees) {
      if (tree.gain != null) {
        ofGain.add(tree.gain);
      }
      if (tree.bias != null) {
        ofBias.add(tree.bias);
      }
    }
  }

  /** Does rows that begin a sub-tree. */
  private void tree(Call call, Plan plan, Worker worker, long from, long to) {
    for (long row = from; row < to; row += SumOrder.ROWS) {
      Object leafOfGain = gain ? ofGain.open() : null;
      Object leafOfBias = bias ? ofBias.open() : null;
      sums[Backward.GAIN_GRADIENT.place()] = leafOfGain;
      sums[Backward.BIAS_GRADIENT.place()] = leafOfBias;
      Runner.rows(call, plan, worker, row, Math.min(to, row + SumOrder.ROWS), sums);
      if (leafOfGain != null) {
        ofGain.add(leafOfGain);
      }
      if (leafOfBias != null) {
        ofBias.add(leafOfBias);
      }
    }
  }

  /** Rows of a sub-tree: so many blocks, a power of two, that there are not too many sub-trees. */
  private long treeRows(boolean float64, long rows, int threads) {
    int arrays = (gain ? 1 : 0) + (bias ? 1 : 0);
    int most = maxTrees(arrays * SumArrays.bytes(width, float64), threads);
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
}
