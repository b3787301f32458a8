package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Numbers of columns with the even ones of every 32 first, as paired kernels read them; or as they
 * are, for other kernels.
 */
final class EvenFirst {
  private final boolean paired;

  /** The gain and bias of a norm, put in order once: they stay the same. */
  private final AtomicReferenceArray<float[]> ordered = new AtomicReferenceArray<>(Column.COUNT);

  EvenFirst(boolean paired) {
    this.paired = paired;
  }

  /** A norm's own gain or bias in the order in which the kernels read it. */
  Object of(Column column, Object natural) {
    if (!paired || natural == null) {
      return natural;
    }
    float[] numbers = ordered.get(column.ordinal());
    if (numbers == null) {
      numbers = of((float[]) natural);
      ordered.set(column.ordinal(), numbers);
    }
    return numbers;
  }

  /** A copy in that order; behind the last whole 32 all stays as it is. */
  static float[] of(float[] natural) {
    float[] ordered = natural.clone();
    int whole = natural.length & -RowSum.LANES;
    for (int i = 0; i < whole; i++) {
      ordered[RowSum.evenFirst(i)] = natural[i];
    }
    return ordered;
  }

  /** Brings the first n sums of columns back to their natural order. */
  void undo(Object sums, int n) {
    if (!paired || sums == null) {
      return;
    }
    float[] numbers = (float[]) sums;
    float[] group = new float[RowSum.LANES];
    for (int from = 0; from + RowSum.LANES <= n; from += RowSum.LANES) {
      System.arraycopy(numbers, from, group, 0, RowSum.LANES);
      for (int i = 0; i < RowSum.LANES; i++) {
        numbers[from + i] = group[RowSum.evenFirst(i)];
      }
    }
  }
}
