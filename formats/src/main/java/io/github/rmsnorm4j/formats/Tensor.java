package io.github.rmsnorm4j.formats;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * What is known of a tensor without its elements: name, type and shape.
 *
 * <p>Seen from an axis, a tensor is a list of rows: the axes before it count the rows, that axis
 * and those after it are the width.
 *
 * @param name its name, empty for the nameless tensor of a {@code .npy} file
 * @param dtype the type of its elements
 * @param shape the length of each axis, outermost first; empty for a scalar
 */
public record Tensor(String name, Dtype dtype, List<Long> shape) {
  /** The most axes a tensor may have: as many as NumPy and PyTorch allow. */
  public static final int MAX_AXES = 64;

  /**
   * Checks and copies what it is given.
   *
   * @throws IllegalArgumentException if there are more than {@link #MAX_AXES} axes, an axis is
   *     negative, or the size overflows; the message says which, and leaves the name out
   */
  public Tensor {
    Objects.requireNonNull(name, "name");
    shape = List.copyOf(shape);
    if (shape.size() > MAX_AXES) {
      throw new IllegalArgumentException(
          "has " + shape.size() + " axes, at most " + MAX_AXES + " are supported");
    }
    if (shape.stream().anyMatch(length -> length < 0)) {
      throw new IllegalArgumentException("has a negative length in its shape " + shape);
    }
    checkSize(dtype, shape);
  }

  /** Axes of length 0 count as 1, so that no product of some of the axes overflows either. */
  private static void checkSize(Dtype dtype, List<Long> shape) {
    long product = 1;
    try {
      for (long length : shape) {
        product = Math.multiplyExact(product, Math.max(length, 1));
      }
      Math.multiplyExact(product, Math.ceilDiv(dtype.bits(), 8));
    } catch (ArithmeticException _) {
      throw new IllegalArgumentException(
          "has the shape " + shape + ", whose size in bytes overflows 64 bits");
    }
    if (dtype.bits() % 8 != 0 && product(shape) % 8 * dtype.bits() % 8 != 0) {
      throw new IllegalArgumentException(
          "has " + product(shape) + " elements of " + dtype.bits() + " bits: no whole bytes");
    }
  }

  private static long product(List<Long> lengths) {
    long product = 1;
    for (long length : lengths) {
      product *= length;
    }
    return product;
  }

  /**
   * The number of elements.
   *
   * @return the product of the shape, 1 for a scalar
   */
  public long elements() {
    return product(shape);
  }

  /**
   * The size of all elements.
   *
   * @return the size in bytes
   */
  public long bytes() {
    long elements = elements();
    int bits = dtype.bits();
    // Eight elements at a time, as the number of bits may overflow where that of bytes does not.
    return elements / 8 * bits + elements % 8 * bits / 8;
  }

  /**
   * The number of rows, seen from an axis.
   *
   * @param axis the first axis of the row, 0 for the outermost, negative to count from the end
   * @return the product of the lengths of the axes before it
   * @throws IllegalArgumentException if there is no such axis
   */
  public long rows(int axis) {
    return product(shape.subList(0, index(axis)));
  }

  /**
   * The width of a row, seen from an axis.
   *
   * @param axis the first axis of the row, 0 for the outermost, negative to count from the end
   * @return the product of the lengths of that axis and those after it
   * @throws IllegalArgumentException if there is no such axis
   */
  public long width(int axis) {
    return product(shape.subList(index(axis), shape.size()));
  }

  private int index(int axis) {
    int axes = shape.size();
    if (axis < -axes || axis >= axes) {
      throw new IllegalArgumentException(
          axes == 0
              ? "axis is " + axis + ", but the tensor is a scalar and has none"
              : "axis is %d, the shape %s allows %d to %d".formatted(axis, shape, -axes, axes - 1));
    }
    return axis < 0 ? axis + axes : axis;
  }

  /**
   * The same tensor stored otherwise.
   *
   * @param other the type to store its elements in
   * @return a tensor of this name and shape
   * @throws IllegalArgumentException if its size overflows in that type
   */
  public Tensor as(Dtype other) {
    return new Tensor(name, other, shape);
  }

  /**
   * Its name, fit to be printed whatever it is: shortened, and with what is not visible escaped.
   *
   * @return one line of text
   */
  public String label() {
    return Printable.shortened(name);
  }

  /** Name, type and shape on one line, fit to be printed: {@code norm.weight f32 [4096]}. */
  @Override
  public String toString() {
    String type = dtype.name().toLowerCase(Locale.ROOT);
    return (name.isEmpty() ? "" : label() + " ") + type + " " + shape;
  }
}
