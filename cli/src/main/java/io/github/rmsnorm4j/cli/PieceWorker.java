package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Takes tensors from one file to another, normalised or as they are, through native buffers of a
 * few MiB. Nothing is mapped: a kernel on a mapped file would take the JVM down if the file became
 * shorter.
 */
final class PieceWorker implements AutoCloseable {
  private static final long PIECE = 4 << 20;
  private static final int ALIGNMENT = 64;

  private final TensorFile in;
  private final TensorWriter out;
  private final StoredRows residual;
  private final TensorWriter added;
  private final Progress progress;
  private final Arena arena = Arena.ofShared();
  private MemorySegment inBuffer = MemorySegment.NULL;
  private MemorySegment outBuffer = MemorySegment.NULL;
  private MemorySegment residualBuffer = MemorySegment.NULL;
  private long nonFinite;

  /**
   * Begins.
   *
   * @param residual what the rows are added to before they are normalised, or null
   * @param added takes the sums, or null
   */
  PieceWorker(
      TensorFile in, TensorWriter out, StoredRows residual, TensorWriter added, Progress progress) {
    this.in = in;
    this.out = out;
    this.residual = residual;
    this.added = added;
    this.progress = progress;
  }

  /** How many of the elements written by {@link #normalize} are NaN or infinite. */
  long nonFinite() {
    return nonFinite;
  }

  /** Writes a tensor's rows, normalised, as elements of a type. */
  void normalize(Tensor tensor, int axis, Norm norm, ElementType outType) throws IOException {
    ElementType inType = tensor.dtype().elementType().orElseThrow();
    NonFinite counter = new NonFinite(outType);
    int width = norm.width();
    long rows = tensor.rows(axis);
    if (rows == 0) {
      return; // No buffer for a width that only the header claims: no byte stands behind it.
    }
    long inRow = (long) width * inType.bytes();
    long outRow = (long) width * outType.bytes();
    long residualRow = residual == null ? 0 : (long) width * residual.type().bytes();
    long pieceRows = Math.clamp(PIECE / Math.max(residualRow, Math.max(inRow, outRow)), 1, rows);
    inBuffer = atLeast(inBuffer, pieceRows * inRow);
    // Of one type, rows are normalised in place, which moves a third less memory.
    MemorySegment yBuffer = inBuffer;
    if (inType != outType) {
      outBuffer = atLeast(outBuffer, pieceRows * outRow);
      yBuffer = outBuffer;
    }
    residualBuffer = atLeast(residualBuffer, pieceRows * residualRow);
    for (long row = 0; row < rows; row += pieceRows) {
      long count = Math.min(pieceRows, rows - row);
      in.read(tensor, row * width, count * width, inBuffer);
      Rows x = Rows.of(inBuffer, inType, count, width);
      Rows y = Rows.of(yBuffer, outType, count, width);
      if (residual == null) {
        norm.apply(x, y);
      } else {
        residual.read(row * width, count * width, residualBuffer);
        Rows sums = Rows.of(residualBuffer, residual.type(), count, width);
        norm.addAndApply(x, sums, y);
        if (added != null) {
          added.write(sums.segment());
        }
      }
      nonFinite += counter.count(y.segment());
      out.write(y.segment());
      progress.step(count * (inRow + residualRow));
    }
  }

  /** Writes a tensor's bytes as they are. */
  void copy(Tensor tensor) throws IOException {
    long bytes = tensor.bytes();
    inBuffer = atLeast(inBuffer, Math.min(bytes, PIECE));
    for (long at = 0; at < bytes; at += PIECE) {
      MemorySegment piece = inBuffer.asSlice(0, Math.min(PIECE, bytes - at));
      in.readBytes(tensor, at, piece);
      out.write(piece);
      progress.step(piece.byteSize());
    }
  }

  /** Grows by doubling at least, as outgrown buffers are only freed in the end. */
  private MemorySegment atLeast(MemorySegment buffer, long bytes) {
    return buffer.byteSize() >= bytes
        ? buffer
        : arena.allocate(Math.max(Math.max(bytes, PIECE), 2 * buffer.byteSize()), ALIGNMENT);
  }

  @Override
  public void close() {
    arena.close();
  }
}
