package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.NpyFile;
import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A floating tensor in a file that is open for reading.
 *
 * @param label what it is to the user
 * @param file the file
 * @param tensor the tensor in it
 */
record StoredRows(String label, TensorFile file, Tensor tensor) implements Closeable {
  /**
   * Opens one.
   *
   * @param text where it is, as {@code FILE} or {@code FILE:TENSOR}
   * @throws IllegalArgumentException if the file has no such tensor, or not of a floating type
   */
  static StoredRows open(String label, String text) throws IOException {
    TensorReference reference = TensorReference.parse(argument(label), text);
    return of(label, reference, TensorFile.open(reference.file()));
  }

  /** The same, or one that is quantised: it is read as float32 elements. */
  static StoredRows openDequantized(String label, String text) throws IOException {
    TensorReference reference = TensorReference.parse(argument(label), text);
    return of(label, reference, DequantizedFile.open(reference.file()));
  }

  private static StoredRows of(String label, TensorReference reference, TensorFile file)
      throws IOException {
    try {
      Tensor tensor = reference.in(file);
      if (QuantizedTensor.scales(file).contains(tensor.name())) {
        throw new IllegalArgumentException(
            "%s: %s is %s, its elements are scales of codes"
                .formatted(reference.file(), label, tensor));
      }
      if (tensor.dtype().elementType().isEmpty()) {
        throw new IllegalArgumentException(
            "%s: %s is %s, it may be f64, f32, f16 or bf16"
                .formatted(reference.file(), label, tensor));
      }
      return new StoredRows(label, file, tensor);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /** The name of the argument that says where it is. */
  String argument() {
    return argument(label);
  }

  private static String argument(String label) {
    return label.replaceFirst("^the ", "--");
  }

  ElementType type() {
    return tensor.dtype().elementType().orElseThrow();
  }

  /** How it is stored, if it is quantised. */
  Optional<QuantizedTensor> quantized() {
    return file instanceof DequantizedFile dequantized
        ? dequantized
            .type(tensor)
            .map(type -> new QuantizedTensor(tensor.name(), type, tensor.shape()))
        : Optional.empty();
  }

  /** The tensor's name; that of a .npy file is the file's. */
  String name() {
    return nameOf(tensor, file);
  }

  static String nameOf(Tensor tensor, TensorFile file) {
    return file instanceof NpyFile
        ? file.path().getFileName().toString().replaceFirst("\\.npy$", "")
        : tensor.name();
  }

  /**
   * Checks that it goes with other rows.
   *
   * @throws IllegalArgumentException if it does not
   */
  void requireLike(Tensor rows) {
    if (!tensor.shape().equals(rows.shape())) {
      throw new IllegalArgumentException(
          "%s: %s is %s, its shape must be that of the rows, %s"
              .formatted(file.path(), label, tensor, rows.shape()));
    }
    ElementType of = rows.dtype().elementType().orElseThrow();
    if ((type() == ElementType.FLOAT64) != (of == ElementType.FLOAT64)) {
      throw new IllegalArgumentException(
          "%s: %s is %s, the rows are %s: both must be f64, or neither"
              .formatted(file.path(), label, tensor, of.shortName()));
    }
  }

  /** Reads elements, as {@link TensorFile#read} does. */
  void read(long first, long count, MemorySegment into) throws IOException {
    file.read(tensor, first, count, into);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
