package io.github.rmsnorm4j.checkpoint.families;

import java.util.Arrays;
import java.util.List;

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
}
