package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.util.Arrays;

/** Rows of some type, where they lie, and how many elements are between them. */
record Operand(ElementType type, Place place, int gap, int width, double[][] rows) {
  /** A copy in memory. */
  Block in(Arena arena) {
    Block block = new Block(arena, place, type, rows.length, width, width + gap);
    for (int r = 0; r < rows.length; r++) {
      block.put(r, rows[r]);
    }
    return block;
  }

  /** The same operand with the first elements of each row. */
  Operand first(int n) {
    double[][] first = Arrays.stream(rows).map(r -> Arrays.copyOf(r, n)).toArray(double[][]::new);
    return new Operand(type, place, gap, n, first);
  }

  /** Other rows in such a place. */
  Operand with(double[][] others) {
    return new Operand(type, place, gap, width, others);
  }

  /** As many rows in such a place, of zeros. */
  Operand empty(ElementType other) {
    return new Operand(other, place, gap, width, new double[rows.length][0]);
  }

  /** Whether it is of a type, and where kernels can address it. */
  boolean isPlain(ElementType other) {
    return type == other && (place == Place.ARRAY || !place.isHeap());
  }

  static Rows rows(Operand operand, Arena arena) {
    return operand == null ? null : operand.in(arena).rows;
  }

  /** One row, or null of nothing. */
  static Values row(Operand operand, int row) {
    return operand == null ? null : new Values(operand.type, operand.rows[row]);
  }

  static String text(Operand operand) {
    return operand == null ? "none" : operand.type + " in " + operand.place + "+" + operand.gap;
  }
}
