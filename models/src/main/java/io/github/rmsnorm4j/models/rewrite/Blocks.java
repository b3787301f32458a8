package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/**
 * A stored tensor as a matrix of float64, read in blocks of whole rows. A tensor of one axis is one
 * row; other tensors than these and matrices are refused.
 */
final class Blocks {
  /** A block has as many rows as fit this number of elements, and one at least. */
  private static final int ELEMENTS = 1 << 19;

  /** A matrix with a longer axis is of no model. */
  private static final long LONGEST = 1 << 26;

  private final TensorFile file;
  private final Tensor tensor;
  private final LongConsumer progress;
  final long rows;
  final int columns;

  /** Takes a block of rows. */
  interface Sink {
    /**
     * Takes rows.
     *
     * @param values the rows, one after the other; may be changed
     * @param first the number of the first row
     * @param rows how many there are
     */
    void accept(double[] values, long first, int rows) throws IOException;
  }

  /** Looks at the shape; reads nothing yet. */
  Blocks(TensorFile file, Tensor tensor, LongConsumer progress) throws FormatException {
    int axes = tensor.shape().size();
    boolean isLong = tensor.shape().stream().anyMatch(length -> length > LONGEST);
    if (axes < 1 || axes > 2 || isLong || tensor.dtype().elementType().isEmpty()) {
      throw new FormatException(
          file.path(),
          tensor.name(),
          "is %s, only matrices and vectors of floating numbers with axes of at most %s are rewritten"
              .formatted(tensor, LONGEST));
    }
    this.file = file;
    this.tensor = tensor;
    this.progress = progress;
    this.rows = axes == 1 ? 1 : tensor.shape().getFirst();
    this.columns = (int) (long) tensor.shape().getLast();
  }

  private int rowsOfABlock() {
    return (int) Math.clamp(ELEMENTS / Math.max(columns, 1), 1, Math.max(rows, 1));
  }

  /** Gives all rows to a sink, in order. */
  void forEach(Sink sink) throws IOException {
    int most = rowsOfABlock();
    int bytes = tensor.dtype().bits() / 8;
    double[] values = new double[most * columns];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stored = arena.allocate((long) most * columns * bytes, Double.BYTES);
      for (long row = 0; row < rows; row += most) {
        int count = (int) Math.min(most, rows - row);
        file.read(tensor, row * columns, (long) count * columns, stored);
        tensor.dtype().decode(stored, values, count * columns);
        sink.accept(values, row, count);
        progress.accept((long) count * columns * bytes);
      }
    }
  }

  /** Takes a block of rows of two tensors. */
  interface PairSink {
    void accept(double[] values, double[] others, long first, int rows) throws IOException;
  }

  /** Gives all rows to a sink, each with that of a tensor of the result. */
  void forEach(TensorFile result, Tensor other, PairSink sink) throws IOException {
    if (!other.shape().equals(tensor.shape()) || other.dtype() != tensor.dtype()) {
      throw new RefusedException("the result has %s, the model %s".formatted(other, tensor));
    }
    int most = rowsOfABlock() * columns;
    int bytes = tensor.dtype().bits() / 8;
    double[] others = new double[most];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stored = arena.allocate((long) most * bytes, Double.BYTES);
      forEach(
          (values, first, rows) -> {
            int count = rows * columns;
            result.read(other, first * columns, count, stored);
            other.dtype().decode(stored, others, count);
            progress.accept((long) count * bytes);
            sink.accept(values, others, first, rows);
          });
    }
  }

  /** All elements of a tensor of one axis. */
  static double[] vector(TensorFile file, Tensor tensor) throws IOException {
    Blocks blocks = new Blocks(file, tensor, _ -> {});
    if (blocks.rows != 1) {
      throw new FormatException(file.path(), tensor.name(), "is " + tensor + ", it must be a row");
    }
    double[] all = new double[blocks.columns];
    blocks.forEach((values, _, _) -> System.arraycopy(values, 0, all, 0, all.length));
    return all;
  }
}
