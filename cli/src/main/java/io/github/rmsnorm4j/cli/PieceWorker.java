package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.rows.NonFinite;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Takes tensors from one file to another, normalised or as they are, through buffers of a few MiB.
 * Nothing is mapped: a kernel on a mapped file would take the JVM down if the file became shorter.
 */
final class PieceWorker implements AutoCloseable {
  private static final long COPIED = 4 << 20;

  private final Normalizer normalizer;
  private final TensorFile in;
  private final TensorWriter out;

  /** The residual, or the rows of the gate; or null. */
  private final StoredRows beside;

  private final TensorWriter added;
  private final Progress progress;
  private final Buffer<MemorySegment> copied =
      new Buffer<>(Arena::ofConfined, (n, a) -> a.allocate(n));
  private long nonFinite;

  /** What becomes of a piece whose rows are normalised. */
  private interface Result {
    void write(Piece piece) throws IOException;
  }

  /**
   * Begins.
   *
   * @param beside what the rows are added to before they are normalised, or the rows of the norm's
   *     gate; or null
   * @param added takes the sums, or null
   */
  PieceWorker(
      Normalizer normalizer,
      TensorFile in,
      TensorWriter out,
      StoredRows beside,
      TensorWriter added,
      Progress progress) {
    this.normalizer = normalizer;
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
    NonFinite counter = new NonFinite(outType);
    pieces(
        tensor,
        tensor.rows(axis),
        norm,
        shape(tensor, norm, outType, null),
        added != null,
        piece -> {
          MemorySegment y = piece.shape().y(piece.result(), piece.count()).segment();
          nonFinite += counter.count(y);
          out.write(y);
        });
  }

  /**
   * Writes the codes of a tensor's rows, normalised, or their scales. Where these are two tensors,
   * the rows are read and normalised for each of them, so that no memory grows with the tensor.
   *
   * @param part the codes, or the scales
   */
  void quantize(Tensor tensor, Norm norm, QuantizedTensor as, Tensor part) throws IOException {
    boolean isCodes = part.equals(as.codes());
    pieces(
        tensor,
        tensor.rows(-1),
        norm,
        shape(tensor, norm, null, as.type()),
        added != null && isCodes,
        piece -> {
          QuantizedRows q = piece.shape().quantized(piece.result(), piece.count());
          nonFinite += isCodes ? nonFiniteScales(q) : 0;
          out.write(isCodes ? q.codes() : q.scales());
        });
  }

  private PieceShape shape(Tensor tensor, Norm norm, ElementType y, QuantizedType codes) {
    return new PieceShape(
        norm.width(),
        tensor.dtype().elementType().orElseThrow(),
        beside == null ? null : beside.type(),
        y,
        codes);
  }

  /**
   * Reads rows, has them normalised and writes what they became. Rows of a piece are read while
   * those of the pieces before are normalised, if there are several pieces.
   *
   * @param sums whether the sums with the residual are written
   */
  private void pieces(
      Tensor tensor, long rows, Norm norm, PieceShape shape, boolean sums, Result result)
      throws IOException {
    if (rows == 0) {
      return; // No buffer for a width that only the header claims: no byte stands behind it.
    }
    Normalizer.Pieces pieces = normalizer.pieces(norm, shape, rows, sums);
    Queue<Piece> idle = new ArrayDeque<>(pieces.all());
    Queue<Piece> atWork = new ArrayDeque<>();
    for (long row = 0; row < rows; row += pieces.rows()) {
      if (idle.isEmpty()) {
        idle.add(written(atWork.remove(), sums, result));
      }
      Piece piece = idle.remove();
      long count = Math.min(pieces.rows(), rows - row);
      in.read(tensor, row * shape.width(), count * shape.width(), piece.x());
      if (beside != null) {
        beside.read(row * shape.width(), count * shape.width(), piece.beside());
      }
      piece.normalize(count);
      atWork.add(piece);
    }
    while (!atWork.isEmpty()) {
      written(atWork.remove(), sums, result);
    }
  }

  private Piece written(Piece piece, boolean sums, Result result) throws IOException {
    piece.finish();
    PieceShape shape = piece.shape();
    if (sums) {
      added.write(shape.beside(piece.beside(), piece.count()).segment());
    }
    result.write(piece);
    progress.step(piece.count() * (shape.xRow() + shape.besideRow()));
    return piece;
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
    MemorySegment buffer = copied.atLeast(Math.min(bytes, COPIED));
    for (long at = 0; at < bytes; at += COPIED) {
      MemorySegment piece = buffer.asSlice(0, Math.min(COPIED, bytes - at));
      in.readBytes(tensor, at, piece);
      out.write(piece);
      progress.step(piece.byteSize());
    }
  }

  /** Frees its buffer; the normalizer stays. */
  @Override
  public void close() {
    copied.close();
  }
}
