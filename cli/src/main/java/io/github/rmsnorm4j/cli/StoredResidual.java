package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.NpyFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A residual in a file, open for reading, and the file that takes the sums, if one does. */
final class StoredResidual implements Closeable {
  private final TensorFile in;
  private final Tensor tensor;
  private TensorWriter out;

  private StoredResidual(TensorFile in, Tensor tensor) {
    this.in = in;
    this.tensor = tensor;
  }

  /**
   * Opens one.
   *
   * @param text where it is, as {@code FILE} or {@code FILE:TENSOR}
   * @throws IllegalArgumentException if the file has no such tensor, or not of a floating type
   */
  static StoredResidual open(String text) throws IOException {
    TensorReference reference = TensorReference.parse(text);
    TensorFile file = TensorFile.open(reference.file());
    try {
      Tensor tensor = reference.in(file);
      if (tensor.dtype().elementType().isEmpty()) {
        throw new IllegalArgumentException(
            "%s: the residual is %s, it may be f64, f32, f16 or bf16"
                .formatted(reference.file(), tensor));
      }
      return new StoredResidual(file, tensor);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  ElementType type() {
    return tensor.dtype().elementType().orElseThrow();
  }

  /** All bytes that are read. */
  long bytes() {
    return tensor.bytes();
  }

  /** All bytes that are written. */
  long bytesOut() {
    return out == null ? 0 : tensor.bytes();
  }

  /**
   * Checks that it goes with the rows it is added to.
   *
   * @throws IllegalArgumentException if it does not
   */
  void requireLike(Tensor rows) {
    if (!tensor.shape().equals(rows.shape())) {
      throw new IllegalArgumentException(
          "%s: the residual is %s, its shape must be that of the rows, %s"
              .formatted(in.path(), tensor, rows.shape()));
    }
    ElementType of = rows.dtype().elementType().orElseThrow();
    if ((type() == ElementType.FLOAT64) != (of == ElementType.FLOAT64)) {
      throw new IllegalArgumentException(
          "%s: the residual is %s, the rows are %s: both must be f64, or neither"
              .formatted(in.path(), tensor, of.shortName()));
    }
  }

  /**
   * Begins the file that takes the sums.
   *
   * @param rows the file of the rows, which it may not replace
   * @param result the other file that will be written
   * @param replace whether a file of that name may be replaced
   * @throws IllegalArgumentException if it would take the place of one of those, or of other
   *     tensors beside the residual, or cannot hold the residual
   */
  void create(Path path, Path rows, Path result, boolean replace) throws IOException {
    requireOther(path, result, "OUT");
    requireOther(path, rows, "IN");
    if (in.tensors().size() > 1 && real(path).equals(real(in.path()))) {
      throw new IllegalArgumentException(
          "--residual-out is %s, which holds %d tensors: it must be a file of its own"
              .formatted(path, in.tensors().size()));
    }
    String name =
        in instanceof NpyFile
            ? in.path().getFileName().toString().replaceFirst("\\.npy$", "")
            : tensor.name();
    Tensor sums = new Tensor(name, tensor.dtype(), tensor.shape());
    out = TensorWriter.create(path, List.of(sums), Map.of(), replace);
  }

  private static void requireOther(Path path, Path other, String name) throws IOException {
    if (real(path).equals(real(other))) {
      throw new IllegalArgumentException(
          "--residual-out is %s, %s is the same file: they must be two".formatted(path, name));
    }
  }

  /** Where a name leads to, as far as there is anything yet. */
  private static Path real(Path path) throws IOException {
    if (Files.exists(path)) {
      return path.toRealPath();
    }
    Path absolute = path.toAbsolutePath().normalize();
    Path folder = absolute.getParent();
    return folder != null && Files.exists(folder)
        ? folder.toRealPath().resolve(absolute.getFileName())
        : absolute;
  }

  /** Reads elements, as {@link TensorFile#read} does. */
  void read(long first, long count, MemorySegment into) throws IOException {
    in.read(tensor, first, count, into);
  }

  /** Takes the next sums. */
  void write(MemorySegment sums) throws IOException {
    if (out != null) {
      out.write(sums);
    }
  }

  /** Brings the sums to their name. */
  void commit() throws IOException {
    if (out != null) {
      out.commit();
    }
  }

  /** Deletes the sums, unless they have been committed. */
  @Override
  public void close() throws IOException {
    try (in) {
      if (out != null) {
        out.close();
      }
    }
  }
}
