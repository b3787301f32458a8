package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Rectangle;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/** Gives a kernel a place to write a rectangle of rows to: where it belongs, or the workspace. */
final class RowWriter {
  private RowMemory y;
  private boolean direct;
  private boolean float64;
  private NarrowCodec codec;
  private Workspace work;
  private Object directBase;

  /** Where the rectangle is to be written. */
  final Rectangle rows = new Rectangle();

  /** Begins to write. */
  void open(RowMemory y, boolean float64, NarrowCodec codec, Workspace work) {
    this.y = y;
    direct = y.direct();
    this.float64 = float64;
    this.codec = codec;
    this.work = work;
    directBase = direct ? y.base() : null;
  }

  /** Lets go of what was written. */
  void close() {
    y = null;
    work = null;
    directBase = null;
    rows.clear();
  }

  /** Chooses the place. Staged rows are written over the staged input, if there is one. */
  void place(long row, long column, int rows, int columns) {
    Rectangle to = this.rows;
    if (direct) {
      to.memory = y.memory();
      to.base = directBase;
      to.offset = y.segment().address() + row * y.stride() + column * y.type().bytes();
      to.stride = y.stride();
    } else {
      to.packed(work, float64, rows, columns);
    }
  }

  /** Brings what was written to where it belongs. */
  void finish(long row, long column, int rows, int columns) {
    if (direct) {
      return;
    }
    long at = row * y.stride() + column * y.type().bytes();
    if (float64) {
      Stage.storeDoubles(y, at, rows, columns, codec, work);
    } else {
      Stage.storeFloats(y, at, rows, columns, codec, work);
    }
  }
}
