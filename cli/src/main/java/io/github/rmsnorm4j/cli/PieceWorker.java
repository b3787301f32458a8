package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.QuantizedTensor;
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

  /** The residual, or the rows of the gate; or null. */
  private final StoredRows beside;

  private final TensorWriter added;
  private final Progress progress;
  private final Arena arena = Arena.ofShared();
  private MemorySegment inBuffer = MemorySegment.NULL;
  private MemorySegment outBuffer = MemorySegment.NULL;
  private MemorySegment besideBuffer = MemorySegment.NULL;
  private long nonFinite;

  /**
   * Begins.
   *
   * @param beside what the rows are added to before they are normalised, or the rows of the norm's
   *     gate; or null
   * @param added takes the sums, or null
   */
  PieceWorker(
      TensorFile in, TensorWriter out, StoredRows beside, TensorWriter added, Progress progress) {
    this.in = in;
    this.out = out;
    this.beside = beside;
    this.added = added;
    this.progress = progress;
  }

  /** How many of the elements or scales that were written are NaN or infinite. */
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
    long besideRow = beside == null ? 0 : (long) width * beside.type().bytes();
    long pieceRows = Math.clamp(PIECE / Math.max(besideRow, Math.max(inRow, outRow)), 1, rows);
    inBuffer = atLeast(inBuffer, pieceRows * inRow);
    // Of one type, rows are normalised in place, which moves a third less memory.
    MemorySegment yBuffer = inBuffer;
    if (inType != outType) {
      outBuffer = atLeast(outBuffer, pieceRows * outRow);
      yBuffer = outBuffer;
    }
    besideBuffer = atLeast(besideBuffer, pieceRows * besideRow);
    for (long row = 0; row < rows; row += pieceRows) {
      long count = Math.min(pieceRows, rows - row);
      in.read(tensor, row * width, count * width, inBuffer);
      Rows x = Rows.of(inBuffer, inType, count, width);
      Rows y = Rows.of(yBuffer, outType, count, width);
      Rows other = readBeside(row, count, width);
      if (other == null) {
        norm.apply(x, y);
      } else if (norm.spec().gate() != Gate.NONE) {
        norm.applyGated(x, other, y);
      } else {
        norm.addAndApply(x, other, y);
      }
      if (added != null) {
        added.write(other.segment());
      }
      nonFinite += counter.count(y.segment());
      out.write(y.segment());
      progress.step(count * (inRow + besideRow));
    }
  }

  /**
   * Writes the codes of a tensor's rows, normalised, or their scales. Where these are two tensors,
   * the rows are read and normalised for each of them, so that no memory grows with the tensor.
   *
   * @param part the codes, or the scales
   */
  void quantize(Tensor tensor, Norm norm, QuantizedTensor as, Tensor part) throws IOException {
    long rows = tensor.rows(-1);
    if (rows == 0) {
      return;
    }
    ElementType inType = tensor.dtype().elementType().orElseThrow();
    int width = norm.width();
    boolean isCodes = part.equals(as.codes());
    long codeRow = as.type().rowBytes(width);
    long scaleRow = (long) as.type().scales(width) * Float.BYTES;
    long inRow = (long) width * inType.bytes();
    long besideRow = beside == null ? 0 : (long) width * beside.type().bytes();
    long pieceRows = Math.clamp(PIECE / Math.max(besideRow, Math.max(inRow, codeRow)), 1, rows);
    inBuffer = atLeast(inBuffer, pieceRows * inRow);
    outBuffer = atLeast(outBuffer, pieceRows * (codeRow + scaleRow));
    besideBuffer = atLeast(besideBuffer, pieceRows * besideRow);
    for (long row = 0; row < rows; row += pieceRows) {
      long count = Math.min(pieceRows, rows - row);
      MemorySegment codes = outBuffer.asSlice(scaleRow * count, codeRow * count);
      MemorySegment scales = outBuffer.asSlice(0, scaleRow * count);
      QuantizedRows q =
          scaleRow == 0
              ? QuantizedRows.of(codes, as.type(), count, width)
              : QuantizedRows.of(codes, scales, as.type(), count, width);
      in.read(tensor, row * width, count * width, inBuffer);
      Rows x = Rows.of(inBuffer, inType, count, width);
      Rows other = readBeside(row, count, width);
      if (other == null) {
        norm.apply(x, q);
      } else if (norm.spec().gate() != Gate.NONE) {
        norm.applyGated(x, other, q);
      } else {
        norm.addAndApply(x, other, q);
      }
      if (added != null && isCodes) {
        added.write(other.segment());
      }
      nonFinite += isCodes ? nonFiniteScales(q) : 0;
      out.write(isCodes ? codes : scales);
      progress.step(count * (inRow + besideRow));
    }
  }

  /** Rows of the residual or of the gate; null where there are none. */
  private Rows readBeside(long row, long count, int width) throws IOException {
    if (beside == null) {
      return null;
    }
    beside.read(row * width, count * width, besideBuffer);
    return Rows.of(besideBuffer, beside.type(), count, width);
  }

  private static long nonFiniteScales(QuantizedRows q) {
    if (q.scales() != null) {
      return new NonFinite(ElementType.FLOAT32).count(q.scales());
    }
    // Each block begins with its scale.
    ElementType type = q.type() == QuantizedType.Q8_K ? ElementType.FLOAT32 : ElementType.FLOAT16;
    NonFinite counter = new NonFinite(type);
    long block = q.type().rowBytes(q.type().block(q.width()));
    long count = 0;
    for (long at = 0; at < q.codes().byteSize(); at += block) {
      count += counter.count(q.codes().asSlice(at, type.bytes()));
    }
    return count;
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
