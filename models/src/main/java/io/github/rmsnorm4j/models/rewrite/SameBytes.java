package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/** Compares stored bytes, a piece at a time. */
final class SameBytes implements Closeable {
  private static final int PIECE = 1 << 20;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment one = arena.allocate(PIECE);
  private final MemorySegment two = arena.allocate(PIECE);
  private final LongConsumer progress;

  SameBytes(LongConsumer progress) {
    this.progress = progress;
  }

  /** Whether two tensors of one size have the same bytes. */
  boolean of(TensorFile file, Tensor tensor, TensorFile otherFile, Tensor other)
      throws IOException {
    for (long at = 0; at < tensor.bytes(); at += PIECE) {
      long length = Math.min(PIECE, tensor.bytes() - at);
      file.readBytes(tensor, at, one.asSlice(0, length));
      otherFile.readBytes(other, at, two.asSlice(0, length));
      progress.accept(2 * length);
      if (one.asSlice(0, length).mismatch(two.asSlice(0, length)) >= 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    arena.close();
  }
}
