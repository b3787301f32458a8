package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowCodec;
import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.codec.Stage;
import io.github.rmsnorm4j.internal.kernel.Workspace;

/** Puts a rectangle of rows where a kernel can read it: it is there already, or it is staged. */
final class RowReader {
  private final RowMemory x;
  private final NarrowCodec codec;
  private final Workspace work;
  private final Object directBase;

  /** Where the rectangle read last lies. */
  Object base;

  long offset;
  long stride;

  RowReader(RowMemory x, int vectorBits, Workspace work) {
    this.x = x;
    codec = NarrowCodec.of(x.type(), vectorBits);
    this.work = work;
    directBase = x.direct() ? x.base() : null;
  }

  void read(long row, long column, int rows, int columns) {
    long at = row * x.stride() + column * x.type().bytes();
    if (x.direct()) {
      base = directBase;
      offset = x.segment().address() + at;
      stride = x.stride();
      return;
    }
    Stage.load(x, at, rows, columns, codec, work);
    boolean float64 = x.type() == ElementType.FLOAT64;
    base = float64 ? work.doubles(0) : work.floats(0);
    offset = 0;
    stride = (long) columns * (float64 ? Double.BYTES : Float.BYTES);
  }
}
