package io.github.rmsnorm4j.internal.norm;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Adds arrays as a tree whose shape is given by their number alone: node(l, k) = node(l - 1, 2k) +
 * node(l - 1, 2k + 1), and where the right one is missing the left one unchanged. Leaves come in
 * order; of finished nodes only those are kept that still lack a right one.
 */
final class BlockSums {
  private static final int LEVELS = 64;

  private final int width;
  private final boolean float64;
  private final Object[] nodes = new Object[LEVELS];
  private final int[] levels = new int[LEVELS];
  private final ArrayDeque<Object> free = new ArrayDeque<>();
  private int depth;

  BlockSums(int width, boolean float64) {
    this.width = width;
    this.float64 = float64;
  }

  /** An array of zeros for the next leaf: float[] or double[] by the arithmetic's type. */
  Object open() {
    Object array = free.poll();
    if (array == null) {
      return float64 ? new double[width] : new float[width];
    }
    if (float64) {
      Arrays.fill((double[]) array, 0.0);
    } else {
      Arrays.fill((float[]) array, 0f);
    }
    return array;
  }

  /** Takes the next leaf, which is not the caller's any more. */
  void close(Object leaf) {
    Object node = leaf;
    int level = 0;
    while (depth > 0 && levels[depth - 1] == level) {
      node = addTop(node);
      level++;
    }
    nodes[depth] = node;
    levels[depth++] = level;
  }

  /**
   * The root of all leaves so far, which is not for the next ones any more; null without leaves.
   */
  Object root() {
    Object node = depth == 0 ? null : nodes[--depth];
    while (depth > 0) {
      node = addTop(node);
    }
    return node;
  }

  /** The last node kept, with another added. */
  private Object addTop(Object right) {
    Object left = nodes[--depth];
    if (float64) {
      add((double[]) left, (double[]) right);
    } else {
      add((float[]) left, (float[]) right);
    }
    free.add(right);
    return left;
  }

  private static void add(float[] left, float[] right) {
    for (int i = 0; i < left.length; i++) {
      left[i] += right[i];
    }
  }

  private static void add(double[] left, double[] right) {
    for (int i = 0; i < left.length; i++) {
      left[i] += right[i];
    }
  }
}
