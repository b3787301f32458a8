package io.github.rmsnorm4j.internal.norm;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.lowering.machine.MachineFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The rows of one operand of a call, checked by the API.
 *
 * @param segment holds every row, from its first byte on
 * @param stride bytes from one row to the next
 * @param addressable whether kernels may address the rows, or the rows are in an array of their
 *     type; otherwise they are copied, piece by piece, by calls that check every access
 */
public record RowMemory(MemorySegment segment, ElementType type, long stride, boolean addressable) {
  /** Never started; it stands for any thread other than the caller's. */
  private static final Thread ANOTHER_THREAD = anotherThread();

  /** It inherits nothing, so that it keeps no class loader alive. */
  private static Thread anotherThread() {
    Thread thread = new Thread(null, () -> {}, "rmsnorm4j-another", 0, false);
    thread.setContextClassLoader(null);
    return thread;
  }

  /** Whether all of these rows are bfloat16, or null. */
  static boolean areBfloat16(RowMemory... operands) {
    for (RowMemory rows : operands) {
      if (rows != null && rows.type() != ElementType.BFLOAT16) {
        return false;
      }
    }
    return true;
  }

  /** Whether any thread may access the memory through its segment. */
  public boolean isOfAnyThread() {
    return segment.isAccessibleBy(ANOTHER_THREAD);
  }

  /** The array with the rows, null for native memory. */
  Object base() {
    return segment.isNative() ? null : segment.heapBase().orElseThrow();
  }

  /** The memory of addressable rows. */
  Memory memory() {
    return segment.isNative() ? Memory.NATIVE : Memory.HEAP;
  }

  /** Points a frame of machine code at rows from one on, and from a column on. */
  void place(MachineFrame frame, Tensor operand, long row, long column) {
    MemorySegment array = segment.isNative() ? null : segment;
    long start = array == null ? segment.address() : 0;
    frame.place(operand, array, start + row * stride + column * type.bytes(), stride);
  }

  /**
   * The segment from which elements are copied. Memory of one thread is copied by its address, so
   * that other threads may help; the thread is in the call meanwhile and cannot free it. Other
   * memory could be freed, so it is copied by calls that check it.
   */
  MemorySegment source() {
    return isOfOneThread() ? Memory.Native.EVERYTHING : segment;
  }

  private boolean isOfOneThread() {
    return addressable && segment.isNative() && !isOfAnyThread();
  }

  /** The place of an element in {@link #source}. */
  long at(long row, long column) {
    long at = row * stride + column * type.bytes();
    return isOfOneThread() ? segment.address() + at : at;
  }

  /** Copies a rectangle of rows to arrays of the compute type. */
  public void load(long row, long column, int rows, int columns, Staging staging) {
    ElementType stored = type == ElementType.FLOAT64 ? type : ElementType.FLOAT32;
    load(row, column, rows, columns, stored, staging);
  }

  /**
   * Copies a rectangle of rows to arrays, row after row.
   *
   * @param stored the type in the arrays: float32 for float16; float32 or bfloat16 for bfloat16
   */
  void load(long row, long column, int rows, int columns, ElementType stored, Staging staging) {
    int n = rows * columns;
    switch (type) {
      case FLOAT64 -> copy(JAVA_DOUBLE_UNALIGNED, row, column, rows, columns, staging.doubles(n));
      case FLOAT32 -> copy(JAVA_FLOAT_UNALIGNED, row, column, rows, columns, staging.floats(n));
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = staging.shorts(n);
        copy(JAVA_SHORT_UNALIGNED, row, column, rows, columns, patterns);
        if (stored == ElementType.FLOAT32) {
          NarrowArrays.decode(type, patterns, staging.floats(n), n);
        }
      }
    }
  }

  private void copy(
      ValueLayout layout, long row, long column, int rows, int columns, Object array) {
    if (stride == columns * layout.byteSize()) {
      MemorySegment.copy(source(), layout, at(row, column), array, 0, rows * columns);
      return;
    }
    for (int r = 0; r < rows; r++) {
      MemorySegment.copy(source(), layout, at(row + r, column), array, r * columns, columns);
    }
  }
}
