package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;
import static io.github.rmsnorm4j.models.internal.Requirement.requireBetween;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.internal.Floats;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.DoubleUnaryOperator;

/**
 * A matrix of float32 in native memory, row-major, its rows {@code stride} elements apart. Many
 * views of one memory may exist; they are made once, so that steps make no objects. Not for use
 * after its memory has been given back.
 */
public final class Matrix {
  private static final int ALIGNMENT = 64;

  /** Its memory, from the first element to behind the last. */
  public final MemorySegment segment;

  /** How many rows it has. */
  public final int rows;

  /** How many columns it has. */
  public final int columns;

  /** Elements from the beginning of a row to that of the next. */
  public final int stride;

  private Rows asRows;
  private Matrix[] tiles;
  private Floats floats;

  private Matrix(MemorySegment segment, int rows, int columns, int stride) {
    this.segment = segment;
    this.rows = rows;
    this.columns = columns;
    this.stride = stride;
  }

  static Matrix allocate(Arena arena, int rows, int columns) {
    long bytes = Math.multiplyExact(Math.multiplyExact((long) rows, columns), Float.BYTES);
    return of(arena.allocate(bytes, ALIGNMENT), rows, columns);
  }

  static Matrix of(MemorySegment segment, int rows, int columns) {
    return new Matrix(segment, rows, columns, columns);
  }

  /**
   * {@return a matrix of the elements in a memory; not copied}
   *
   * @param segment native memory, aligned for float32; the matrix begins where it begins
   * @param rows 1 or more
   * @param columns 1 or more
   * @param stride elements from the beginning of a row to that of the next; columns or more
   * @throws IllegalArgumentException if the memory is not native or too small, or a number is out
   *     of its range
   */
  public static Matrix of(MemorySegment segment, int rows, int columns, int stride) {
    requireBetween("rows", rows, 1, Integer.MAX_VALUE);
    requireBetween("columns", columns, 1, Integer.MAX_VALUE);
    requireBetween("stride", stride, columns, Integer.MAX_VALUE);
    long bytes = ((rows - 1L) * stride + columns) * Float.BYTES;
    boolean aligned = segment.isNative() && segment.address() % Float.BYTES == 0;
    require(aligned, "segment", segment, "be native memory, aligned for float32");
    require(segment.byteSize() >= bytes, "segment", segment, "have " + bytes + " bytes or more");
    return new Matrix(segment.asSlice(0, bytes), rows, columns, stride);
  }

  /** A part of it, a view. */
  Matrix block(int firstRow, int firstColumn, int rows, int columns) {
    if (firstRow + rows > this.rows || firstColumn + columns > this.columns) {
      throw new IndexOutOfBoundsException(
          "%s x %s from (%s, %s) of %s x %s"
              .formatted(rows, columns, firstRow, firstColumn, this.rows, this.columns));
    }
    long first = (long) firstRow * stride + firstColumn;
    long elements = (rows - 1L) * stride + columns;
    return new Matrix(
        segment.asSlice(first * Float.BYTES, elements * Float.BYTES), rows, columns, stride);
  }

  /** The blocks of one size that it is cut into, first those of its first rows; views. */
  Matrix[] tiles(int rows, int columns) {
    if (tiles == null) {
      int across = this.columns / columns;
      tiles = new Matrix[this.rows / rows * across];
      for (int i = 0; i < tiles.length; i++) {
        tiles[i] = block(i / across * rows, i % across * columns, rows, columns);
      }
    }
    return tiles;
  }

  /** The same elements as norms take them, in rows of one width. */
  Rows asRows(int width) {
    if (asRows == null) {
      asRows = Rows.of(segment, ElementType.FLOAT32, Math.toIntExact(elements() / width), width);
    }
    return asRows;
  }

  /** The same elements for loops. */
  Floats floats() {
    if (floats == null) {
      floats = new Floats(segment);
    }
    return floats;
  }

  long elements() {
    if (stride != columns) {
      throw new IllegalStateException("rows are " + stride + " apart, they must follow closely");
    }
    return (long) rows * columns;
  }

  void zero() {
    segment.fill((byte) 0);
  }

  void copyFrom(Matrix other) {
    MemorySegment.copy(other.segment, 0, segment, 0, elements() * Float.BYTES);
  }

  void copyRow(int row, Matrix other, int otherRow) {
    long bytes = (long) columns * Float.BYTES;
    MemorySegment.copy(other.segment, otherRow * bytes, segment, row * bytes, bytes);
  }

  /** Adds a row of another matrix, of as many columns, to one of this. */
  void addToRow(int row, Matrix other, int otherRow) {
    Floats to = floats();
    Floats from = other.floats();
    long at = (long) row * stride;
    long otherAt = (long) otherRow * other.stride;
    for (int i = 0; i < columns; i++) {
      to.set(at + i, to.get(at + i) + from.get(otherAt + i));
    }
  }

  /** Adds another matrix row by row, or its only row to each row. */
  void add(Matrix other) {
    for (int n = 0; n < rows; n++) {
      addToRow(n, other, other.rows == 1 ? 0 : n);
    }
  }

  /** Replaces each element by what a function makes of it, rounded. */
  void replaceEach(DoubleUnaryOperator function) {
    Floats values = floats();
    long n = elements();
    for (long i = 0; i < n; i++) {
      values.set(i, (float) function.applyAsDouble(values.get(i)));
    }
  }

  /** Adds one row of numbers to a matrix of one row. */
  void add(float[] row) {
    Floats to = floats();
    for (int i = 0; i < row.length; i++) {
      to.set(i, to.get(i) + row[i]);
    }
  }
}
