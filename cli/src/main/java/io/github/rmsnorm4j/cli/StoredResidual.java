package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A residual in a file, open for reading, and the file that takes the sums, if one does. */
final class StoredResidual implements Closeable {
  /** What is added. */
  final StoredRows in;

  private TensorWriter out;

  /** Takes one over, to close it too. */
  StoredResidual(StoredRows in) {
    this.in = in;
  }

  /** All bytes that are written. */
  long bytesOut() {
    return out == null ? 0 : in.tensor().bytes();
  }

  /**
   * Begins the file that takes the sums.
   *
   * @param rows the file of the rows, which it may not replace
   * @param result the other file that will be written
   * @param replace whether a file of that name may be replaced
   * @throws IllegalArgumentException if it would take the place of one of those, or of other
   *     tensors next to the residual, or cannot hold the residual
   */
  void create(Path path, Path rows, Path result, boolean replace) throws IOException {
    DistinctFiles.require("--residual-out", path, "OUT", result);
    DistinctFiles.require("--residual-out", path, "IN", rows);
    int tensors = in.file().tensors().size();
    if (tensors > 1 && DistinctFiles.same(path, in.file().path())) {
      throw new IllegalArgumentException(
          "--residual-out is %s, which holds %s tensors: it must be a file of its own"
              .formatted(path, tensors));
    }
    Tensor sums = new Tensor(in.name(), in.tensor().dtype(), in.tensor().shape());
    out = TensorWriter.create(path, List.of(sums), Map.of(), replace);
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
