package io.github.rmsnorm4j.internal.norm;

import java.util.Arrays;

/**
 * Adds arrays as a tree whose shape is given by their number alone: node(l, k) = node(l - 1, 2k) +
 * node(l - 1, 2k + 1), and where the right one is missing the left one unchanged. Leaves come in
 * order; of finished nodes only those are kept that still lack a right one.
 */
final class BlockSums implements AutoCloseable {
  /** More than a tree has levels, and as many as there are sub-trees at most. */
  private static final int MAX_ARRAYS = BackwardRunner.MAX_TREES;

  /** First the nodes that lack a right one, then arrays to be used again. */
  private final Object[] arrays = new Object[MAX_ARRAYS];

  private int width;
  private boolean float64;
  private int nodes;
  private int held;
  private long leaves;

  /** Begins with sums of a width. */
  void begin(int width, boolean float64) {
    this.width = width;
    this.float64 = float64;
  }

  /** An array for the next leaf, zeros up to the width: float[] or double[]. */
  Object open() {
    Object array = held > nodes ? arrays[--held] : SumArrays.SHARED.take(width, float64);
    arrays[held] = null; // Or it would outlive a call that fails before the leaf comes back.
    if (float64) {
      Arrays.fill((double[]) array, 0, width, 0.0);
    } else {
      Arrays.fill((float[]) array, 0, width, 0f);
    }
    return array;
  }

  /** Takes the next leaf, which is not the caller's any more. */
  void add(Object leaf) {
    arrays[held++] = arrays[nodes];
    arrays[nodes++] = leaf;
    // As in counting: of two nodes of a level the next one is made, as often as there are two.
    for (long k = leaves++; (k & 1) != 0; k >>= 1) {
      addTop();
    }
  }

  /**
   * The root of all leaves so far, which is the caller's now and not for the next ones any more;
   * null without leaves.
   */
  Object root() {
    if (nodes == 0) {
      return null;
    }
    while (nodes > 1) {
      addTop();
    }
    Object root = arrays[0];
    arrays[0] = arrays[--held];
    arrays[held] = null;
    nodes = 0;
    leaves = 0;
    return root;
  }

  /** Gives back all arrays but the roots: there are no more leaves. */
  @Override
  public void close() {
    while (held > 0) {
      SumArrays.SHARED.giveBack(arrays[--held]);
      arrays[held] = null;
    }
    nodes = 0;
    leaves = 0;
  }

  /** Adds the last node to the one before it. */
  private void addTop() {
    Object right = arrays[--nodes];
    Object left = arrays[nodes - 1];
    if (float64) {
      add((double[]) left, (double[]) right, width);
    } else {
      add((float[]) left, (float[]) right, width);
    }
  }

  private static void add(float[] left, float[] right, int width) {
    for (int i = 0; i < width; i++) {
      left[i] += right[i];
    }
  }

  private static void add(double[] left, double[] right, int width) {
    for (int i = 0; i < width; i++) {
      left[i] += right[i];
    }
  }
}
