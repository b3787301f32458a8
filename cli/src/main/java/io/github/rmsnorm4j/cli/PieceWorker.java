package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
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
 *
 * @param beside what the rows are added to before they are normalised, or the rows of the norm's
 *     gate; or null
 * @param added takes the sums, or null
 */
record PieceWorker(
    Normalizer normalizer,
    TensorFile in,
    TensorWriter out,
    StoredRows beside,
    TensorWriter added,
    Progress progress) {
  private static final long COPIED = 4 << 20;

  /**
   * Writes a tensor's rows, normalised: as elements, as codes, or the scales of the codes. Where
   * codes and scales are two tensors, the rows are read and normalised for each of them, so that no
   * memory grows with the tensor. Rows of a piece are read while those of the pieces before are
   * normalised, if there are several pieces.
   *
   * @param y the type of the elements, or null
   * @param codes how the rows are quantised, or null
   * @param isScales whether only the scales are written
   * @return how many of the elements or scales that were written are NaN or infinite
   */
  long normalize(
      Tensor tensor, long rows, Norm norm, ElementType y, QuantizedType codes, boolean isScales)
      throws IOException {
    ElementType x = tensor.dtype().elementType().orElseThrow();
    ElementType other = beside == null ? null : beside.type();
    PieceShape shape = new PieceShape(norm.width(), x, other, y, codes);
    boolean sums = added != null && !isScales;
    if (rows == 0) {
      return 0; // No buffer for a width that only the header claims: no byte stands behind it.
    }
    Queue<Piece> idle = new ArrayDeque<>(normalizer.pieces(norm, shape, rows, sums));
    long most = idle.element().most();
    Queue<Piece> atWork = new ArrayDeque<>();
    long nonFinite = 0;
    for (long row = 0; row < rows; row += most) {
      if (idle.isEmpty()) {
        idle.add(atWork.element());
        nonFinite += write(atWork.remove(), isScales);
      }
      Piece piece = idle.remove();
      long count = Math.min(most, rows - row);
      in.read(tensor, row * shape.width(), count * shape.width(), piece.x());
      if (beside != null) {
        beside.read(row * shape.width(), count * shape.width(), piece.beside());
      }
      piece.normalize(count);
      atWork.add(piece);
    }
    while (!atWork.isEmpty()) {
      nonFinite += write(atWork.remove(), isScales);
    }
    return nonFinite;
  }

  private long write(Piece piece, boolean isScales) throws IOException {
    piece.finish();
    PieceShape shape = piece.shape();
    if (added != null && !isScales) {
      added.write(piece.other().segment());
    }
    progress.step(piece.count() * (shape.xRow() + shape.besideRow()));
    if (shape.codes() == null) {
      MemorySegment y = piece.y().segment();
      out.write(y);
      return new NonFinite(shape.y()).count(y);
    }
    QuantizedRows q = piece.quantized();
    out.write(isScales ? q.scales() : q.codes());
    return isScales ? 0 : nonFiniteScales(q);
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
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(Math.min(bytes, COPIED));
      for (long at = 0; at < bytes; at += COPIED) {
        MemorySegment piece = buffer.asSlice(0, Math.min(COPIED, bytes - at));
        in.readBytes(tensor, at, piece);
        out.write(piece);
        progress.step(piece.byteSize());
      }
    }
  }
}
