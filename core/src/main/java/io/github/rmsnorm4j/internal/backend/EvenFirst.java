package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Puts the even columns of every 32 first, as paired kernels read them. For other kernels the order
 * does not change.
 */
public final class EvenFirst implements Columns {
  private final boolean paired;

  /** The gain and bias of a norm, reordered once, because they never change. */
  private final AtomicReferenceArray<float[]> ordered =
      new AtomicReferenceArray<>(Tensor.Access.COLUMN.places());

  public EvenFirst(boolean paired) {
    this.paired = paired;
  }

  /** The gain or bias of a norm in the order in which the kernels read it. */
  @Override
  public @Nullable Object of(Call call, Tensor column) {
    Object natural = call.column(column);
    if (!paired || natural == null) {
      return natural;
    }
    float[] numbers = ordered.get(column.place());
    if (numbers == null) {
      numbers = of((float[]) natural);
      ordered.set(column.place(), numbers);
    }
    return numbers;
  }

  /** A copy in that order; columns after the last whole 32 keep their order. */
  static float[] of(float[] natural) {
    float[] ordered = natural.clone();
    int whole = natural.length & -SumOrder.LANES;
    for (int i = 0; i < whole; i++) {
      ordered[RowSum.evenFirst(i)] = natural[i];
    }
    return ordered;
  }

  /** Brings the first n sums of columns back to their natural order. */
  public void undo(Object sums, int n) {
    if (!paired || sums == null) {
      return;
    }
    float[] numbers = (float[]) sums;
    float[] group = new float[SumOrder.LANES];
    for (int from = 0; from + SumOrder.LANES <= n; from += SumOrder.LANES) {
      System.arraycopy(numbers, from, group, 0, SumOrder.LANES);
      for (int i = 0; i < SumOrder.LANES; i++) {
        numbers[from + i] = group[RowSum.evenFirst(i)];
      }
    }
  }
}
