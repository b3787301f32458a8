package io.github.rmsnorm4j.formats;

import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A tensor without its elements: name, type and shape.
 *
 * <p>For a given axis a tensor is a list of rows. The lengths of the axes before it give the number
 * of rows; the lengths of the axis itself and of those after it give the width.
 *
 * @param name its name, empty for the tensor of a {@code .npy} file, which has none
 * @param dtype the type of its elements
 * @param shape the length of each axis, outermost first; empty for a scalar
 */
public record Tensor(String name, Dtype dtype, List<Long> shape) {
  /** The most axes a tensor may have: as many as NumPy and PyTorch allow. */
  public static final int MAX_AXES = 64;

  /**
   * Checks the arguments and copies the shape.
   *
   * @throws IllegalArgumentException if there are more than {@link #MAX_AXES} axes, an axis is
   *     negative, the size overflows, or the elements are not whole bytes or blocks; the message
   *     says which, and leaves the name out
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

  /** Axes of length 0 count as 1, so that a product of any of the axes cannot overflow. */
  private static void checkSize(Dtype dtype, List<Long> shape) {
    long product = 1;
    try {
      for (long length : shape) {
        product = Math.multiplyExact(product, Math.max(length, 1));
      }
      Math.multiplyExact(product, Math.ceilDiv(dtype.bits(), 8));
    } catch (ArithmeticException ignored) {
      throw new IllegalArgumentException(
          "has the shape " + shape + ", whose size in bytes overflows 64 bits");
    }
    if (dtype.isBlock()) {
      long row = shape.isEmpty() ? 1 : shape.getLast();
      if (row % dtype.blockElements != 0) {
        throw new IllegalArgumentException(
            "has rows of %s elements, %s has blocks of %s"
                .formatted(row, dtype, dtype.blockElements));
      }
    } else if (product(shape) % dtype.blockElements != 0) {
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

  /** {@return the number of elements: the product of the shape, 1 for a scalar} */
  public long elements() {
    return product(shape);
  }

  /** {@return the size of all elements in bytes} */
  public long bytes() {
    return elements() / dtype.blockElements * dtype.blockBytes;
  }

  /**
   * {@return the number of rows for an axis: the product of the lengths of the axes before it}
   *
   * @param axis the first axis of the row, 0 for the outermost, negative to count from the end
   * @throws IllegalArgumentException if there is no such axis
   */
  public long rows(int axis) {
    return product(shape.subList(0, index(axis)));
  }

  /**
   * {@return the width of a row for an axis: the product of the lengths of that axis and those
   * after it}
   *
   * @param axis the first axis of the row, 0 for the outermost, negative to count from the end
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
              : "axis is %s, the shape %s allows %s to %s".formatted(axis, shape, -axes, axes - 1));
    }
    return axis < 0 ? axis + axes : axis;
  }

  /**
   * {@return a tensor of this name and shape with another type}
   *
   * @param other the new type of its elements
   * @throws IllegalArgumentException if its size overflows in that type
   */
  public Tensor as(Dtype other) {
    return new Tensor(name, other, shape);
  }

  /**
   * {@return the name as one line that is safe to print: shortened, with invisible characters
   * escaped}
   */
  public String label() {
    return Printable.shortened(name);
  }

  /** Name, type and shape on one line, safe to print: {@code norm.weight f32 [4096]}. */
  @Override
  public String toString() {
    String type = dtype.name().toLowerCase(Locale.ROOT);
    return (name.isEmpty() ? "" : label() + " ") + type + " " + shape;
  }
}
