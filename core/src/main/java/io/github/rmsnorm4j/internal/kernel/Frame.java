package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a kernel works on: a rectangle of rows for each operand, numbers of columns, rows and the
 * call, and lanes for row sums. All kernels share its layout. One thread uses it at a time.
 *
 * <p>Two frames may share everything except the rectangles: then one kernel sums rows of the first
 * while it writes rows of the second.
 */
public final class Frame implements RowNumbers, AutoCloseable {
  /** What a back end keeps in a frame. */
  public interface Own extends AutoCloseable {
    @Override
    void close();
  }

  /** The most rows of a rectangle. */
  public static final int MAX_ROWS = 64;

  /** The most per-row scalars that the elements of a stage read. */
  public static final int MAX_TABLES = 8;

  /** The most values at element 0 of a row. */
  public static final int MAX_FIRSTS = 8;

  /** The most strips of a stage in loops. */
  public static final int MAX_STRIPS = 32;

  /** By slot: the array with rows or columns; null in native memory, and where there are none. */
  public final @Nullable Object[] base = new Object[Tensor.SLOTS];

  /** By slot: bytes from the start of the array, or the address, of the first element. */
  public final long[] offset = new long[Tensor.SLOTS];

  /** By slot: bytes from one row to the next; 0 for columns. */
  public final long[] stride = new long[Tensor.SLOTS];

  /** By number and row. */
  public final double[][] ofRow;

  public final double[] ofCall;

  /** Numbers of rows in the order in which the elements of a stage read them. */
  public final float[] floats;

  public final double[] doubles;

  /** Lanes of the open block, by row sum and row. */
  public final double[][] lanes;

  /** Lanes of the blocks before it. */
  public final double[][] totals;

  /** Lanes of the super-blocks of one long row. */
  final double[][] rowLanes;

  /** Values at element 0 of a row, for loops. */
  public final double[] firsts;

  /** Lanes of one block, by row sum, for loops. */
  public final double[] sumLanes;

  /** Lanes of the blocks before it. */
  public final double[] sumTotals;

  /** Values of elements, for loops: a strip each. */
  public final float[][] floatStrips;

  public final double[][] doubleStrips;

  /** Whether one of the last rows is out of range. */
  public boolean outOfRange;

  /** What a back end keeps for the thread of a frame. The frame's owner closes it. */
  public @Nullable Own own;

  /** Strips of plain Java, and what converts 16-bit types. */
  public final Strips strips;

  /** A frame that shares nothing. */
  public Frame() {
    ofRow = new double[Tensor.Access.ROW.places()][MAX_ROWS];
    ofCall = new double[Tensor.Access.CALL.places()];
    lanes = new double[Stage.MAX_SUMS][MAX_ROWS * SumOrder.LANES];
    totals = new double[Stage.MAX_SUMS][MAX_ROWS * SumOrder.LANES];
    rowLanes = new double[Stage.MAX_SUMS][SumOrder.LANES];
    strips = new Strips();
    floats = new float[MAX_TABLES * MAX_ROWS];
    doubles = new double[MAX_TABLES * MAX_ROWS];
    firsts = new double[MAX_FIRSTS];
    sumLanes = new double[Stage.MAX_SUMS * SumOrder.LANES];
    sumTotals = new double[Stage.MAX_SUMS * SumOrder.LANES];
    floatStrips = new float[MAX_STRIPS][];
    doubleStrips = new double[MAX_STRIPS][];
  }

  /** A frame that shares everything except the rectangles with another one. */
  public Frame(Frame other) {
    ofRow = other.ofRow;
    ofCall = other.ofCall;
    lanes = other.lanes;
    totals = other.totals;
    rowLanes = other.rowLanes;
    strips = other.strips;
    floats = other.floats;
    doubles = other.doubles;
    firsts = other.firsts;
    sumLanes = other.sumLanes;
    sumTotals = other.sumTotals;
    floatStrips = other.floatStrips;
    doubleStrips = other.doubleStrips;
  }

  /** A per-row scalar, of each row. */
  public double[] of(Tensor number) {
    return ofRow[number.place()];
  }

  @Override
  public void set(int place, double[] from, int at, int n) {
    System.arraycopy(from, at, ofRow[place], 0, n);
  }

  @Override
  public void zero(int place, int n) {
    Arrays.fill(ofRow[place], 0, n, 0.0);
  }

  @Override
  public void copy(int place, int n, double[] into, int at) {
    System.arraycopy(ofRow[place], 0, into, at, n);
  }

  public void set(Tensor number, double value) {
    ofCall[number.place()] = value;
  }

  /**
   * Points a tensor of columns at its numbers.
   *
   * @param numbers float[] or double[], as the arithmetic is; null without such a tensor
   */
  public void point(Tensor column, @Nullable Object numbers) {
    place(column, numbers, 0, 0);
  }

  /** Points at the columns from one on, where a piece of a row begins. */
  public void moveColumns(int from) {
    for (int i = Tensor.Access.ELEMENT.places(); i < base.length; i++) {
      offset[i] = (long) from * (base[i] instanceof double[] ? Double.BYTES : Float.BYTES);
    }
  }

  /** Points at the columns of another frame. */
  public void shareColumns(Frame other) {
    int rows = Tensor.Access.ELEMENT.places();
    System.arraycopy(other.base, rows, base, rows, base.length - rows);
    System.arraycopy(other.offset, rows, offset, rows, base.length - rows);
  }

  /** Points an operand at a rectangle. */
  public void place(Tensor rows, @Nullable Object base, long offset, long stride) {
    int i = rows.slot();
    this.base[i] = base;
    this.offset[i] = offset;
    this.stride[i] = stride;
  }

  /** Copies the scalars of a row to those of the first row. */
  public void moveToFirst(int row) {
    for (double[] numbers : ofRow) {
      numbers[0] = numbers[row];
    }
  }

  /** Closes what a back end keeps in it. Nobody may use the frame any more. */
  @Override
  public void close() {
    if (own != null) {
      own.close();
    }
  }

  /** Drops references to the caller's arrays. */
  public void clear() {
    Arrays.fill(base, null);
  }
}
