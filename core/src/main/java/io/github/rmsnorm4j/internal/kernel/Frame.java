package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.CallNumber;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import java.util.Arrays;

/**
 * What a kernel works on: a rectangle of rows for each operand, numbers of columns, rows and the
 * call, and lanes for row sums. All kernels share its layout. One thread uses it at a time.
 *
 * <p>Two frames may share everything but the rectangles: then one kernel sums rows of the first
 * while it writes rows of the second.
 */
public final class Frame {
  /** Rows of a rectangle, at most. */
  public static final int MAX_ROWS = 64;

  /** Numbers of a row that a part's elements take, at most. */
  public static final int MAX_TABLES = 8;

  /** The array that an operand's rows lie in; null in native memory. */
  public final Object[] base = new Object[Operand.COUNT];

  /** Bytes from the start of the array, or the address, of the rectangle's first element. */
  public final long[] offset = new long[Operand.COUNT];

  /** Bytes from one row to the next. */
  public final long[] stride = new long[Operand.COUNT];

  /** The rectangle's first column. */
  public int column;

  /** float[] or double[], by the type of the arithmetic; null where there is none. */
  public final Object[] columns;

  /** By number and row. */
  public final double[][] ofRow;

  public final double[] ofCall;

  /** Numbers of rows as the elements of a part take them, in its own order. */
  public final float[] floats;

  public final double[] doubles;

  /** Lanes of the open block, by row sum and row. */
  public final double[][] lanes;

  /** Lanes of the blocks before it. */
  public final double[][] totals;

  /** Lanes of the super-blocks of one long row. */
  final double[][] rowLanes;

  /** Whether the roots of the last rows left the range of float32. */
  public boolean outOfRange;

  /** Intermediate results in plain Java. */
  final Strips strips;

  /** A frame of its own. */
  public Frame() {
    columns = new Object[Column.COUNT];
    ofRow = new double[RowNumber.COUNT][MAX_ROWS];
    ofCall = new double[CallNumber.COUNT];
    lanes = new double[Part.MAX_SUMS][MAX_ROWS * RowSum.LANES];
    totals = new double[Part.MAX_SUMS][MAX_ROWS * RowSum.LANES];
    rowLanes = new double[Part.MAX_SUMS][RowSum.LANES];
    strips = new Strips();
    floats = new float[MAX_TABLES * MAX_ROWS];
    doubles = new double[MAX_TABLES * MAX_ROWS];
  }

  /** A frame that shares with another one everything but the rectangles. */
  public Frame(Frame other) {
    columns = other.columns;
    ofRow = other.ofRow;
    ofCall = other.ofCall;
    lanes = other.lanes;
    totals = other.totals;
    rowLanes = other.rowLanes;
    strips = other.strips;
    floats = other.floats;
    doubles = other.doubles;
  }

  /** A number of each row. */
  public double[] of(RowNumber number) {
    return ofRow[number.ordinal()];
  }

  public void set(CallNumber number, double value) {
    ofCall[number.ordinal()] = value;
  }

  public void set(Column column, Object values) {
    columns[column.ordinal()] = values;
  }

  /** Points an operand at a rectangle. */
  public void place(Operand rows, Object base, long offset, long stride) {
    int i = rows.ordinal();
    this.base[i] = base;
    this.offset[i] = offset;
    this.stride[i] = stride;
  }

  /** Puts the numbers of a row in the place of the first row's. */
  public void moveToFirst(int row) {
    for (double[] numbers : ofRow) {
      numbers[0] = numbers[row];
    }
  }

  /** Lets go of the caller's arrays, and of where a call that failed was in a row. */
  public void clear() {
    column = 0;
    Arrays.fill(base, null);
    Arrays.fill(columns, null);
  }
}
