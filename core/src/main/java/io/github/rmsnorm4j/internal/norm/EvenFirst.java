package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.kernel.RowSum;

/** Numbers of columns with the even ones of every 32 first, as paired kernels read them. */
final class EvenFirst {
  private EvenFirst() {}

  /** A copy in that order; behind the last whole 32 all stays as it is. */
  static float[] of(float[] natural) {
    float[] ordered = natural.clone();
    int whole = natural.length & -RowSum.LANES;
    for (int i = 0; i < whole; i++) {
      ordered[RowSum.evenFirst(i)] = natural[i];
    }
    return ordered;
  }

  /** Brings the first n numbers back to their natural order. */
  static void undo(float[] ordered, int n) {
    float[] group = new float[RowSum.LANES];
    for (int from = 0; from + RowSum.LANES <= n; from += RowSum.LANES) {
      System.arraycopy(ordered, from, group, 0, RowSum.LANES);
      for (int i = 0; i < RowSum.LANES; i++) {
        ordered[from + i] = group[RowSum.evenFirst(i)];
      }
    }
  }
}
