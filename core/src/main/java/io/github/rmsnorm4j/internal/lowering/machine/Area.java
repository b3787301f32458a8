package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.CallNumber;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;

/**
 * Where in its thread's memory a kernel finds what it works on, in bytes: where rows and columns
 * are, numbers of the call and of rows, and room for lanes and for the ends of rows.
 */
final class Area {
  /** Bytes of the longest vectors. */
  static final int ALIGNMENT = 64;

  /** Rows of a call, and elements of a row. */
  static final int ROWS = 0;

  static final int WIDTH = 8;

  /** The state of the floating-point unit: the caller's, and that of the contract. */
  static final int CALLERS_MXCSR = 16;

  static final int MXCSR = 20;

  /** The address of a mask: before it 32 elements that are there, from it on 32 that are not. */
  static final int MASK = 24;

  /** Elements that row sums are of. */
  static final int SUMMED = 32;

  private static final int OPERANDS = 64;
  private static final int COLUMNS = OPERANDS + 2 * Long.BYTES * Operand.COUNT;
  private static final int OF_CALL = COLUMNS + Long.BYTES * Column.COUNT;
  private static final int OF_ROW = aligned(OF_CALL + Double.BYTES * CallNumber.COUNT);
  private static final int NUMBER = Double.BYTES * MachineFrame.MAX_ROWS;
  private static final int TOTALS = OF_ROW + NUMBER * RowNumber.COUNT;
  private static final int LANES = Double.BYTES * RowSum.LANES;
  private static final int BROADCASTS = TOTALS + LANES * Part.MAX_SUMS;
  private static final int ENDS = BROADCASTS + ALIGNMENT * Frame.MAX_TABLES;
  private static final int END = Double.BYTES * RowSum.LANES;
  private static final int COLUMN_ENDS = ENDS + END * Operand.COUNT;

  static final int BYTES = COLUMN_ENDS + END * Column.COUNT;

  private Area() {}

  /** The next multiple of the alignment. */
  static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** The address of an operand's first row. */
  static int address(Operand rows) {
    return OPERANDS + 2 * Long.BYTES * rows.ordinal();
  }

  /** Bytes from a row to the next. */
  static int stride(Operand rows) {
    return address(rows) + Long.BYTES;
  }

  /** The address of a column's numbers. */
  static int address(Column column) {
    return COLUMNS + Long.BYTES * column.ordinal();
  }

  static int of(CallNumber number) {
    return OF_CALL + Double.BYTES * number.ordinal();
  }

  /** A number of the first row; those of other rows follow. */
  static int of(RowNumber number) {
    return OF_ROW + NUMBER * number.ordinal();
  }

  /** Lanes of the blocks of a row sum, added. */
  static int totals(int sum) {
    return TOTALS + LANES * sum;
  }

  /** A vector of a per-row scalar. */
  static int broadcast(int index) {
    return BROADCASTS + ALIGNMENT * index;
  }

  /** The last elements of a row, with zeros behind them. */
  static int end(Operand rows) {
    return ENDS + END * rows.ordinal();
  }

  static int end(Column column) {
    return COLUMN_ENDS + END * column.ordinal();
  }
}
