package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.backend.Columns;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The float32 gain and bias of a norm as float64, made once, because they never change. */
final class WidenedColumns implements Columns {
  private final AtomicReferenceArray<double[]> widened =
      new AtomicReferenceArray<>(Tensor.Access.COLUMN.places());

  @Override
  public Object of(Tensor column, Object natural) {
    if (!(natural instanceof float[] numbers)) {
      return natural;
    }
    double[] copy = widened.get(column.place());
    if (copy == null) {
      copy = new double[numbers.length];
      for (int i = 0; i < copy.length; i++) {
        copy[i] = numbers[i];
      }
      widened.set(column.place(), copy);
    }
    return copy;
  }
}
