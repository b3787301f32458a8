package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A gain or a bias in a file. Its length is known before any of it is read, so that one that does
 * not fit is never loaded.
 *
 * @param kind what it is to the user: {@code gain} or {@code bias}
 * @param reference where it is
 * @param length its number of elements, whatever its shape
 */
public record StoredParameter(String kind, TensorReference reference, long length) {
  /**
   * Looks a parameter up.
   *
   * @param text where it is, as {@code FILE} or {@code FILE:TENSOR}
   * @throws IllegalArgumentException if the file has no such tensor, or not of a floating type
   */
  static StoredParameter of(String kind, String text) throws IOException {
    try (StoredRows stored = StoredRows.open("the " + kind, text)) {
      TensorReference reference = TensorReference.parse("--" + kind, text);
      return new StoredParameter(kind, reference, stored.tensor().elements());
    }
  }

  /** Reads it as one row. */
  public Rows read(Arena arena) throws IOException {
    try (TensorFile file = TensorFile.open(reference.file())) {
      Tensor tensor = reference.in(file);
      if (tensor.elements() != length || tensor.dtype().elementType().isEmpty()) {
        throw new FormatException(reference.file(), "has changed while it was read");
      }
      MemorySegment elements = arena.allocate(tensor.bytes(), Double.BYTES);
      file.read(tensor, 0, length, elements);
      return Rows.of(elements, tensor.dtype().elementType().get(), 1, Math.toIntExact(length));
    }
  }

  /** The elements of a row, whatever their type: a double has each as it is. */
  public static double[] values(Rows row) {
    double[] values = new double[row.width()];
    Arrays.setAll(values, i -> row.type().get(row.segment(), i));
    return values;
  }
}
