package io.github.rmsnorm4j.internal.norm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Adds arrays as a tree whose shape depends on their number alone: node(l, k) = node(l - 1, 2k) +
 * node(l - 1, 2k + 1). If the right child is missing, the node is the left child. Leaves come in
 * order. Only finished nodes that still lack a right sibling are kept.
 */
final class BlockSums implements AutoCloseable {
  /** First the nodes that lack a right sibling, then arrays for new leaves. */
  private Object[] arrays = new Object[4];

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
    arrays[held] = null; // Otherwise it would outlive a call that fails before it adds the leaf.
    if (float64) {
      Arrays.fill((double[]) array, 0, width, 0.0);
    } else {
      Arrays.fill((float[]) array, 0, width, 0f);
    }
    return array;
  }

  /** Takes the next leaf. The caller must not use it any more. */
  void add(Object leaf) {
    if (held + 1 >= arrays.length) {
      arrays = Arrays.copyOf(arrays, 2 * arrays.length);
    }
    arrays[held++] = arrays[nodes];
    arrays[nodes++] = leaf;
    // Like a binary counter: two nodes of one level become one of the next.
    for (long k = leaves++; (k & 1) != 0; k >>= 1) {
      addTop();
    }
  }

  /**
   * The root of all leaves so far, or null without leaves. It belongs to the caller, and this
   * object does not use it for further leaves.
   */
  @Nullable Object root() {
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

  /** Takes an array back, for another leaf. The caller must not use it any more. */
  void giveBack(Object array) {
    if (held == arrays.length) {
      arrays = Arrays.copyOf(arrays, 2 * arrays.length);
    }
    arrays[held++] = array;
  }

  /** Returns all arrays except the roots to the pool, after the last leaf. */
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
