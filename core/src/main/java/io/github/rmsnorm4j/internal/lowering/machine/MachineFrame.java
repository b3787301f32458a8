package io.github.rmsnorm4j.internal.lowering.machine;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowNumbers;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What machine code works on: rows, columns and numbers, in native memory of its own. One thread
 * uses it at a time. Its owner closes it.
 */
final class MachineFrame implements RowNumbers, AutoCloseable {
  /** Rows that a kernel does at once, at most. */
  static final int MAX_ROWS = 256;

  private final NativeMemory memory = new NativeMemory(Area.BYTES);

  final MemorySegment area = memory.segment();

  /** Where an operand's rows are relative to; null for all of native memory. */
  final MemorySegment[] bases = new MemorySegment[Tensor.Access.ELEMENT.places()];

  /** Whether rows of any operand are in an array. */
  boolean hasArrays;

  MachineFrame() {
    area.set(JAVA_INT, Area.MXCSR, FloatingPointState.CONTRACT);
    area.asSlice(Area.MASK - Area.MASK_BYTES, Area.MASK_BYTES).fill((byte) -1);
    setPeriod(Long.MAX_VALUE, 1);
  }

  /**
   * Rows of one call, at most.
   *
   * @param elements of a call, at most, where rows are in arrays: such calls have to be short
   */
  int mostRows(int elements, int width) {
    return hasArrays ? Math.clamp(elements / width, 1, MAX_ROWS) : MAX_ROWS;
  }

  /** Gives the native memory back. Nobody may use the frame any more. */
  @Override
  public void close() {
    memory.close();
  }

  /** Forgets where rows are. */
  void clear() {
    Arrays.fill(bases, null);
    hasArrays = false;
  }

  /**
   * Says which rows are at one stride, to a kernel of rows that are not all.
   *
   * @param until how many rows from the first one on
   * @param period how many each time after them
   */
  void setPeriod(long until, long period) {
    area.set(JAVA_LONG, Area.UNTIL, until);
    area.set(JAVA_LONG, Area.PERIOD, period);
  }

  /** Says how far the next row is from where it would be, after each period. */
  void jump(Tensor rows, long bytes) {
    area.set(JAVA_LONG, Area.jump(rows), bytes);
  }

  /**
   * Points an operand at rows.
   *
   * @param array the segment of an array that the offset is from; null in native memory
   * @param offset in bytes, or an address
   * @param stride bytes from a row to the next
   */
  void place(Tensor rows, MemorySegment array, long offset, long stride) {
    bases[rows.place()] = array;
    hasArrays |= array != null;
    area.set(JAVA_LONG, Area.address(rows), offset);
    area.set(JAVA_LONG, Area.stride(rows), stride);
  }

  /** Points a column at its numbers in native memory. */
  void point(Tensor column, long address) {
    area.set(JAVA_LONG, Area.address(column), address);
  }

  void set(Tensor number, double value) {
    area.set(JAVA_DOUBLE, Area.of(number), value);
  }

  /** A per-row scalar. */
  void set(Tensor number, int row, double value) {
    area.set(JAVA_DOUBLE, Area.of(number) + (long) row * Double.BYTES, value);
  }

  @Override
  public void set(int place, double[] from, int at, int n) {
    MemorySegment.copy(from, at, area, JAVA_DOUBLE, Area.numbers(place), n);
  }

  @Override
  public void zero(int place, int n) {
    area.asSlice(Area.numbers(place), (long) n * Double.BYTES).fill((byte) 0);
  }

  @Override
  public void copy(int place, int n, double[] into, int at) {
    MemorySegment.copy(area, JAVA_DOUBLE, Area.numbers(place), into, at, n);
  }

  /** Elements of a row, and those of them that row sums are of. */
  void setWidth(int width, int summed) {
    area.set(JAVA_LONG, Area.WIDTH, width);
    area.set(JAVA_LONG, Area.SUMMED, summed);
  }

  /** Takes the numbers of the first row of a plain frame. */
  void setNumbers(Frame from) {
    for (int place = 0; place < from.ofRow.length; place++) {
      area.set(JAVA_DOUBLE, Area.numbers(place), from.ofRow[place][0]);
    }
  }

  /** Gives the numbers of n rows from one on to the first rows of a plain frame. */
  void copyNumbers(int row, int n, Frame to) {
    for (int place = 0; place < to.ofRow.length; place++) {
      long at = Area.numbers(place) + (long) row * Double.BYTES;
      MemorySegment.copy(area, JAVA_DOUBLE, at, to.ofRow[place], 0, n);
    }
  }
}
