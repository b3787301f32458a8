package io.github.rmsnorm4j.models.families;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * A tensor with its elements, in C order.
 *
 * @param type how it is stored
 * @param shape its axes
 * @param elements the elements, each a number of the type
 */
record Values(StoredType type, List<Integer> shape, double[] elements) {
  static int count(List<Integer> shape) {
    return shape.stream().reduce(1, Math::multiplyExact);
  }

  Values {
    if (count(shape) != elements.length) {
      throw new IllegalArgumentException(shape + " for " + elements.length + " elements");
    }
  }

  int rows() {
    return shape.get(0);
  }

  int columns() {
    return shape.get(1);
  }

  double at(int row, int column) {
    return elements[row * columns() + column];
  }

  double[] row(int row) {
    return Arrays.copyOfRange(elements, row * columns(), (row + 1) * columns());
  }

  Values with(double[] others) {
    return new Values(type, shape, others);
  }

  /** A matrix with its rows multiplied. */
  Values scaledRows(IntToDoubleFunction factor) {
    return scaled(i -> factor.applyAsDouble(i / columns()));
  }

  /** A matrix with its columns multiplied. */
  Values scaledColumns(IntToDoubleFunction factor) {
    return scaled(i -> factor.applyAsDouble(i % columns()));
  }

  private Values scaled(IntToDoubleFunction factor) {
    double[] scaled = elements.clone();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= factor.applyAsDouble(i);
    }
    return with(scaled);
  }

  Values filled(double value) {
    double[] filled = new double[elements.length];
    Arrays.fill(filled, value);
    return with(filled);
  }
}
