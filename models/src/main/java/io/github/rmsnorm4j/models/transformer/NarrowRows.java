package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.MemorySegment;

/** Rows of 16 bits on their way through a norm. */
final class NarrowRows {
  private final ElementType type;
  private final MemorySegment bits;
  final Rows rows;

  NarrowRows(Setup setup, int rows, int width) {
    type = setup.arithmetic().normRows();
    bits = setup.arena().allocate((long) rows * width * Short.BYTES, Short.BYTES);
    this.rows = Rows.of(bits, type, rows, width);
  }

  /** Rounds to nearest, ties to even. */
  void roundFrom(Matrix matrix) {
    Floats from = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      type.set(bits, i, from.get(i));
    }
  }

  /** Exact. */
  void widenTo(Matrix matrix) {
    Floats to = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      to.set(i, (float) type.get(bits, i));
    }
  }
}
