package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/** Two tensors of one shape, read together in blocks of rows. */
final class PairedBlocks {
  private PairedBlocks() {}

  /** Takes a block of rows of both. */
  interface Sink {
    void accept(double[] values, double[] others, long first, int rows) throws IOException;
  }

  static void forEach(
      TensorFile file,
      Tensor tensor,
      TensorFile otherFile,
      Tensor other,
      LongConsumer progress,
      Sink sink)
      throws IOException {
    if (!other.shape().equals(tensor.shape()) || other.dtype() != tensor.dtype()) {
      throw new RefusedException("the result has %s, the model %s".formatted(other, tensor));
    }
    Blocks blocks = new Blocks(file, tensor, progress);
    int most = blocks.rowsOfABlock();
    int bytes = tensor.dtype().bits() / 8;
    double[] others = new double[most * blocks.columns];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stored = arena.allocate((long) most * blocks.columns * bytes, Double.BYTES);
      blocks.forEach(
          (values, first, rows) -> {
            int count = rows * blocks.columns;
            otherFile.read(other, first * blocks.columns, count, stored);
            other.dtype().decode(stored, others, count);
            progress.accept((long) count * bytes);
            sink.accept(values, others, first, rows);
          });
    }
  }
}
