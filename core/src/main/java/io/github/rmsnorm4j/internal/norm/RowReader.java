package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/** Puts a rectangle of rows where a kernel can read it: it is there already, or it is staged. */
final class RowReader {
  private RowMemory x;
  private NarrowCodec codec;
  private Workspace work;
  private Object directBase;
  private ResidualSum residual;

  /** Where the rectangle read last lies. */
  final Rectangle rows = new Rectangle();

  /**
   * Begins to read.
   *
   * @param codec of the type of x, null where that is not of 16 bits
   * @param residual what is added to all that is read, or null
   */
  void open(RowMemory x, NarrowCodec codec, Workspace work, ResidualSum residual) {
    this.x = x;
    this.codec = codec;
    this.work = work;
    this.residual = residual;
    directBase = x.direct() ? x.base() : null;
  }

  /** Lets go of what was read. */
  void close() {
    x = null;
    work = null;
    directBase = null;
    residual = null;
    rows.clear();
  }

  boolean float64() {
    return x.type() == ElementType.FLOAT64;
  }

  Rectangle read(long row, long column, int rows, int columns) {
    long at = row * x.stride() + column * x.type().bytes();
    Rectangle to = this.rows;
    if (x.direct()) {
      to.memory = x.memory();
      to.base = directBase;
      to.offset = x.segment().address() + at;
      to.stride = x.stride();
    } else {
      Stage.load(x, at, rows, columns, codec, work);
      to.packed(work, float64(), rows, columns);
    }
    if (residual != null) {
      residual.addTo(to, row, column, rows, columns);
    }
    return to;
  }
}
