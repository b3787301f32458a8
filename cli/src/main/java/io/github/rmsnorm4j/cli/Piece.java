package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** Memory of the host for some rows that are normalised together, again and again. */
abstract class Piece implements AutoCloseable {
  private final Buffer<MemorySegment> x;
  private final Buffer<MemorySegment> beside;
  private final Buffer<MemorySegment> result;
  private PieceShape shape;
  private long most;
  private long count;

  Piece(Supplier<Buffer<MemorySegment>> buffers) {
    x = buffers.get();
    beside = buffers.get();
    result = buffers.get();
  }

  /** Gets memory for rows of a shape. What was here before is gone. */
  final void prepare(PieceShape shape, long rows) {
    this.shape = shape;
    most = rows;
    x.atLeast(rows * shape.xRow());
    beside.atLeast(rows * shape.besideRow());
    result.atLeast(shape.isInPlace() ? 0 : rows * shape.resultRow());
  }

  PieceShape shape() {
    return shape;
  }

  /** How many rows fit. */
  long most() {
    return most;
  }

  /** The rows that are in it. */
  long count() {
    return count;
  }

  /** Where the rows go before {@link #normalize}. */
  MemorySegment x() {
    return x.memory();
  }

  /** Where the residual, or the rows of the gate, go. {@link #finish} leaves the sum there. */
  MemorySegment beside() {
    return beside.memory();
  }

  /** The elements, or scales and codes, once {@link #finish} has returned. */
  MemorySegment result() {
    return shape.isInPlace() ? x() : result.memory();
  }

  Rows in() {
    return Rows.of(x(), shape.x(), count, shape.width());
  }

  /** The residual or its sum, or the rows of the gate; null where there are none. */
  Rows other() {
    return shape.beside() == null ? null : Rows.of(beside(), shape.beside(), count, shape.width());
  }

  /** The result where it is elements. */
  Rows y() {
    return Rows.of(result(), shape.y(), count, shape.width());
  }

  /** The result where it is quantised. The scales of the rows are before their codes. */
  QuantizedRows quantized() {
    long scaleBytes = shape.scaleRow() * count;
    MemorySegment codes = result().asSlice(scaleBytes, shape.codeRow() * count);
    return scaleBytes == 0
        ? QuantizedRows.of(codes, shape.codes(), count, shape.width())
        : QuantizedRows.of(
            codes, result().asSlice(0, scaleBytes), shape.codes(), count, shape.width());
  }

  /** Begins to normalise the rows that were put here; nothing may use its memory from now on. */
  final void normalize(long rows) {
    count = rows;
    start();
  }

  abstract void start();

  /** Waits until the rows are normalised. */
  abstract void finish();

  @Override
  public void close() {
    x.close();
    beside.close();
    result.close();
  }
}
