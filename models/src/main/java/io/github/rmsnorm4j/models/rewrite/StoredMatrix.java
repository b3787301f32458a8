package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/** A tensor of floating numbers in native memory, as a matrix; one of one axis is one row. */
final class StoredMatrix {
  /** A matrix with a longer axis is of no model. */
  private static final int LONGEST = 1 << 26;

  final Tensor tensor;
  final ElementType type;
  final MemorySegment bytes;
  final int rows;
  final int columns;

  /** Reads all of it. */
  StoredMatrix(TensorFile file, String name, Arena arena) throws IOException {
    tensor = file.tensor(name);
    int axes = tensor.shape().size();
    boolean isLong = tensor.shape().stream().anyMatch(length -> length > LONGEST);
    if (axes < 1 || axes > 2 || isLong || tensor.dtype().elementType().isEmpty()) {
      throw new FormatException(
          file.path(),
          name,
          "is %s, only matrices and vectors of floating numbers with axes of at most %s are rewritten"
              .formatted(tensor, LONGEST));
    }
    type = tensor.dtype().elementType().get();
    rows = axes == 1 ? 1 : Math.toIntExact(tensor.shape().getFirst());
    columns = Math.toIntExact(tensor.shape().getLast());
    bytes = bytes(file, tensor, arena);
  }

  /** All bytes of a tensor of any type. */
  static MemorySegment bytes(TensorFile file, Tensor tensor, Arena arena) throws IOException {
    MemorySegment bytes = arena.allocate(tensor.bytes(), Double.BYTES);
    file.readBytes(tensor, 0, bytes);
    return bytes;
  }

  /** Whether two tensors have the same bytes. */
  static boolean sameBytes(TensorFile file, Tensor tensor, TensorFile otherFile, Tensor other)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return bytes(file, tensor, arena).mismatch(bytes(otherFile, other, arena)) < 0;
    }
  }

  double get(int row, int column) {
    return type.get(bytes, (long) row * columns + column);
  }

  /** Adds the product with a vector of inputs, and to the sums the absolute value of each term. */
  void addProduct(double[] inputs, boolean inputsFirst, double[] product, double[] sums) {
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        double term = get(row, column) * inputs[inputsFirst ? row : column];
        int output = inputsFirst ? column : row;
        product[output] += term;
        sums[output] += Math.abs(term);
      }
    }
  }

  /** The mean of each row, or else of each column. */
  double[] means(boolean ofRows) {
    double[] means = new double[ofRows ? rows : columns];
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        means[ofRows ? row : column] += get(row, column);
      }
    }
    for (int i = 0; i < means.length; i++) {
      means[i] /= ofRows ? columns : rows;
    }
    return means;
  }

  /** All elements of a gain or a bias. */
  static double[] vector(TensorFile file, String name) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      StoredMatrix stored = new StoredMatrix(file, name, arena);
      double[] all = new double[Math.multiplyExact(stored.rows, stored.columns)];
      Arrays.setAll(all, i -> stored.type.get(stored.bytes, i));
      return all;
    }
  }

  /** The same, repeated to a length for heads side by side; a constant if there is none. */
  static double[] vector(TensorFile file, Optional<String> name, double absent, int length)
      throws IOException {
    double[] one = name.isPresent() ? vector(file, name.get()) : new double[] {absent};
    if (one.length == 0 || length % one.length != 0) {
      throw new FormatException(
          file.path(), name.get(), "has %s elements, %s are needed".formatted(one.length, length));
    }
    double[] all = new double[length];
    Arrays.setAll(all, i -> one[i % one.length]);
    return all;
  }
}
