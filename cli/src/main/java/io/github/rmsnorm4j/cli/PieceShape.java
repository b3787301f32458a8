package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedType;

/**
 * What a tensor's rows are in memory, and what they become.
 *
 * @param width elements of a row
 * @param x the type of the rows
 * @param beside the type of the residual, or of the rows of the gate; or null
 * @param y the type of the result; null where it is quantised
 * @param codes how the result is quantised; null where it is not
 */
record PieceShape(
    int width, ElementType x, ElementType beside, ElementType y, QuantizedType codes) {
  /** Bytes of a row that is read. */
  long xRow() {
    return (long) width * x.bytes();
  }

  /** Bytes of a row of the residual or of the gate; 0 without. */
  long besideRow() {
    return beside == null ? 0 : (long) width * beside.bytes();
  }

  /** Bytes of a row of the result: of its elements, or of its scales and codes. */
  long resultRow() {
    return codes == null ? (long) width * y.bytes() : scaleRow() + codeRow();
  }

  /** Whether rows are normalised in place, which moves a third less memory. */
  boolean isInPlace() {
    return x == y;
  }

  /** As many rows as fit into some bytes for each kind of rows, at least one. */
  long rowsIn(long bytes, long atMost) {
    long output = codes == null ? resultRow() : codeRow();
    return Math.clamp(bytes / Math.max(besideRow(), Math.max(xRow(), output)), 1, atMost);
  }

  /** Bytes of the codes of a row. */
  long codeRow() {
    return codes.rowBytes(width);
  }

  /** Bytes of the scales of a row; 0 where they are within the codes. */
  long scaleRow() {
    return (long) codes.scales(width) * Float.BYTES;
  }
}
