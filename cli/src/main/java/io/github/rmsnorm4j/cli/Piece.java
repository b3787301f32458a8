package io.github.rmsnorm4j.cli;

import java.lang.foreign.MemorySegment;

/** Memory of the host for some rows that are normalised together, again and again. */
abstract class Piece {
  private final PieceShape shape;
  private final MemorySegment x;
  private final MemorySegment beside;
  private final MemorySegment result;
  private long count;

  /**
   * With memory for as many rows as pieces have.
   *
   * @param beside empty where there are none
   * @param result x itself where rows are normalised in place
   */
  Piece(PieceShape shape, MemorySegment x, MemorySegment beside, MemorySegment result) {
    this.shape = shape;
    this.x = x;
    this.beside = beside;
    this.result = result;
  }

  PieceShape shape() {
    return shape;
  }

  /** The rows that are in it. */
  long count() {
    return count;
  }

  /** Where the rows go before {@link #normalize}. */
  MemorySegment x() {
    return x;
  }

  /** Where the residual, or the rows of the gate, go. {@link #finish} leaves the sum there. */
  MemorySegment beside() {
    return beside;
  }

  /** The elements, or scales and codes, once {@link #finish} has returned. */
  MemorySegment result() {
    return result;
  }

  /** Begins to normalise the rows that were put here; nothing may use its memory from now on. */
  final void normalize(long rows) {
    count = rows;
    start();
  }

  abstract void start();

  /** Waits until the rows are normalised. */
  abstract void finish();
}
