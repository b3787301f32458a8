package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.norm.RowAdder.Tree;
import io.github.rmsnorm4j.internal.parallel.RowScheduler;
import org.jspecify.annotations.Nullable;

/**
 * Runs a checked call that adds rows to sums for gain and bias. All rows share the sums, or the
 * rows of each sample do, or the groups of all rows at one place.
 *
 * <p>Rows are added in blocks of 32, and blocks as a tree. A thread gets whole sub-trees, whose
 * number of blocks is a power of two. So the number of threads changes no bit.
 */
public final class SumsOverRows {
  /** Takes the sums of a sample. */
  public interface Taker {
    /**
     * Takes sums, as float[] or double[] like the arithmetic. Those for a parameter are null if
     * they are not wanted, and if the sample has no rows.
     *
     * @param at the element that they begin with
     */
    void take(@Nullable Object gain, @Nullable Object bias, int at, int sample);
  }

  /** Elements of the sums of samples that a thread does together, as each has few rows. */
  private static final int TOGETHER = 1 << 13;

  /** The most sub-trees of which all sums are kept until the end. */
  static final int MAX_TREES = 64;

  /** Sub-trees for each thread, or half of that, so that threads finish at about one time. */
  private static final int TREES_PER_THREAD = 8;

  private SumsOverRows() {}

  /**
   * Does all rows.
   *
   * @param call of rows, or of their groups
   * @param rows or groups of all rows
   * @param samples that have as many rows each, one after the other
   * @param groups of a row that have sums of their own, one after the other; 1 if they share sums
   */
  public static void run(
      Call call, Plans plans, long rows, int threads, int samples, int groups, Taker taker) {
    int together = Math.clamp(TOGETHER / call.choices().width(), 1, samples);
    boolean few = together > 1 && rows > 0 && rows / samples <= SumOrder.ROWS;
    int ofSample = few ? (int) (rows / samples) : 0;
    try (RowAdder adder = RowAdder.open(call, few ? together : groups, ofSample)) {
      Plan plan = plans.of(adder.call(), rows);
      int useful = Runner.useful(call, rows, threads);
      if (useful == 1) {
        adder.begin(plan);
        samples(adder, plan, rows / samples, 0, samples, taker);
      } else {
        trees(adder, call, plan, rows / samples, samples, useful, taker);
      }
    }
  }

  /**
   * Does some samples.
   *
   * @param rows of each sample
   */
  private static void samples(RowAdder adder, Plan plan, long rows, int from, int to, Taker taker) {
    int together = adder.apart();
    if (adder.isOfFewRows()) {
      for (int sample = from; sample < to; sample += together) {
        adder.giveEach(sample, Math.min(to, sample + together), taker);
      }
      return;
    }
    for (int sample = from; sample < to; sample++) {
      adder.add(sample * rows, (sample + 1) * rows);
      adder.give(plan, taker, sample);
    }
  }

  private static void trees(
      RowAdder adder, Call call, Plan plan, long rows, int samples, int threads, Taker taker) {
    int apart = adder.apart();
    int few = adder.isOfFewRows() ? (int) rows : 0;
    int most = maxTrees(adder.bytes(), threads);
    long treeRows = treeRows(rows, samples, apart, most);
    int ofSample = (int) Math.max(1, Math.ceilDiv(rows, treeRows));
    Tree[] trees = ofSample == 1 ? new Tree[0] : new Tree[samples * ofSample];
    RowScheduler.run(
        (long) samples * ofSample,
        threads,
        (from, to) -> {
          try (RowAdder ofThread = RowAdder.open(call, apart, few)) {
            ofThread.begin(plan);
            if (ofSample == 1) {
              samples(ofThread, plan, rows, (int) from, (int) to, taker);
              return;
            }
            for (int tree = (int) from; tree < to; tree++) {
              long sample = tree / ofSample;
              long first = tree % ofSample * treeRows;
              long last = Math.min(rows, first + treeRows);
              ofThread.add(sample * rows + first, sample * rows + last);
              trees[tree] = ofThread.tree();
            }
          }
        });
    for (int tree = 0; tree < trees.length; tree++) {
      adder.add(trees[tree]);
      if ((tree + 1) % ofSample == 0) {
        adder.give(plan, taker, tree / ofSample);
      }
    }
  }

  /** Rows of a sub-tree: of a power of two blocks, so that there are not too many sub-trees. */
  private static long treeRows(long rows, int samples, int apart, int most) {
    long treeRows = (long) SumOrder.ROWS * apart;
    while (treeRows < rows && samples * Math.ceilDiv(rows, treeRows) > most) {
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
