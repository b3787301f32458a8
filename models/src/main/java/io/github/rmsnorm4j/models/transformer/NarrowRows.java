package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.MemorySegment;

/** Rows of a matrix as a norm has them: a copy of 16 bits, or the rows themselves if float32. */
final class NarrowRows {
  private final Matrix matrix;
  private final ElementType type;
  private final MemorySegment memory;
  final Rows rows;

  NarrowRows(Tape tape, Matrix matrix, int width) {
    this.matrix = matrix;
    type = tape.arithmetic.normRows();
    memory =
        tape.arithmetic.narrowsRows()
            ? tape.arena.allocate(matrix.elements() * Short.BYTES, Short.BYTES)
            : matrix.segment;
    rows = Rows.of(memory, type, Math.toIntExact(matrix.elements() / width), width);
  }

  /** The rows for a norm to read: rounded to nearest, ties to even. */
  Rows rounded() {
    if (memory != matrix.segment) {
      Floats from = matrix.floats();
      for (long i = 0; i < matrix.elements(); i++) {
        type.set(memory, i, from.get(i));
      }
    }
    return rows;
  }

  /** Gives what a norm has written to the matrix, which is exact. */
  void widen() {
    if (memory != matrix.segment) {
      Floats to = matrix.floats();
      for (long i = 0; i < matrix.elements(); i++) {
        to.set(i, (float) type.get(memory, i));
      }
    }
  }
}
