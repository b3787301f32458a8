package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/** Puts a rectangle of rows where a kernel can read it: it is there already, or it is staged. */
final class RowReader {
  private final RowMemory x;
  private final NarrowCodec codec;
  private final Workspace work;
  private final Object directBase;
  private final ResidualSum residual;

  /** Where the rectangle read last lies. */
  final Rectangle rows = new Rectangle();

  /**
   * A reader.
   *
   * @param codec of the type of x, null where that is not of 16 bits
   * @param residual what is added to all that is read, or null
   */
  RowReader(RowMemory x, NarrowCodec codec, Workspace work, ResidualSum residual) {
    this.x = x;
    this.codec = codec;
    this.work = work;
    this.residual = residual;
    directBase = x.direct() ? x.base() : null;
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
