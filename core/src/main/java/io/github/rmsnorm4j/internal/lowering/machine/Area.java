package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;

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

  /** Rows at the first stride, at least 1, and those at each further one; see {@link #jump}. */
  static final int UNTIL = 24;

  static final int PERIOD = 40;

  /** The state of the floating-point unit: the caller's, and that of the contract. */
  static final int CALLERS_MXCSR = 16;

  static final int MXCSR = 20;

  /** Elements that row sums are of. */
  static final int SUMMED = 32;

  private static final int TENSORS = 64;
  private static final int OF_CALL = TENSORS + 2 * Long.BYTES * Tensor.SLOTS;
  private static final int STARTS = OF_CALL + Double.BYTES * Tensor.Access.CALL.places();
  private static final int POINTERS = STARTS + Long.BYTES * Tensor.Access.ELEMENT.places();

  /** The first of the rows that go together, and the one after them. */
  static final int FIRST = POINTERS + Long.BYTES * Tensor.Access.ELEMENT.places();

  static final int AFTER = FIRST + Long.BYTES;

  /** The column after those that these rows are at. */
  static final int STRIP_END = AFTER + Long.BYTES;

  private static final int OF_ROW = aligned(STRIP_END + Long.BYTES);
  private static final int NUMBER = Double.BYTES * MachineFrame.MAX_ROWS;
  private static final int TOTALS = OF_ROW + NUMBER * Tensor.Access.ROW.places();
  private static final int LANES = Double.BYTES * SumOrder.LANES;
  private static final int BROADCASTS = TOTALS + LANES * Stage.MAX_SUMS;
  private static final int ENDS = BROADCASTS + ALIGNMENT * Frame.MAX_TABLES;
  private static final int END = Double.BYTES * SumOrder.LANES;

  /** Bytes of the mask of 32 elements. */
  static final int MASK_BYTES = Long.BYTES * SumOrder.LANES;

  /** A mask: before it 32 elements that are there, from it on 32 that are not. */
  static final int MASK = ENDS + END * Tensor.SLOTS + MASK_BYTES;

  private static final int JUMPS = MASK + MASK_BYTES;

  /** The row after those at the stride that the kernel is at, which it leaves there. */
  static final int END_OF_PERIOD = JUMPS + Long.BYTES * Tensor.Access.ELEMENT.places();

  static final int BYTES = END_OF_PERIOD + Long.BYTES;

  private Area() {}

  /** The next multiple of the alignment. */
  static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** From its base to the first row; the address of the numbers of a column. */
  static int address(Tensor tensor) {
    return TENSORS + 2 * Long.BYTES * tensor.slot();
  }

  /** The address of the first row, which the kernel leaves there. */
  static int start(Tensor rows) {
    return STARTS + Long.BYTES * rows.place();
  }

  /** The address of the row that a stage is at, of rows for which it has no register. */
  static int row(Tensor rows) {
    return POINTERS + Long.BYTES * rows.place();
  }

  /** Bytes from a row to the next. */
  static int stride(Tensor rows) {
    return address(rows) + Long.BYTES;
  }

  /** Bytes from where the next row would be to where it is, after each period of rows. */
  static int jump(Tensor rows) {
    return JUMPS + Long.BYTES * rows.place();
  }

  /** A number of the call, or of the first row; those of other rows follow. */
  static int of(Tensor number) {
    return switch (number.access()) {
      case CALL -> OF_CALL + Double.BYTES * number.place();
      case ROW -> numbers(number.place());
      default -> throw new IllegalArgumentException(number + " is no number of a row or the call");
    };
  }

  /** The number of the first row with a place. */
  static int numbers(int place) {
    return OF_ROW + NUMBER * place;
  }

  /** Lanes of the blocks of a row sum, added. */
  static int totals(int sum) {
    return TOTALS + LANES * sum;
  }

  /** A vector of a per-row scalar. */
  static int broadcast(int index) {
    return BROADCASTS + ALIGNMENT * index;
  }

  /** The last elements of a row, or numbers of a column, with zeros behind them. */
  static int end(Tensor tensor) {
    return ENDS + END * tensor.slot();
  }
}
